# Prints every line of C as FILE:LINE:TEXT with comments, strings and character constants blanked, so that the rules
# see code only. #include lines keep their file name; preprocessor text is code like any other.
FNR == 1 { in_comment = 0 }
{
    line = $0
    if (!in_comment && line ~ /^[ \t]*#[ \t]*include/) {
        print FILENAME ":" FNR ":" line
        next
    }
    text = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (at == 0) break
            line = substr(line, at + 2)
            in_comment = 0
        } else if (match(line, /\/\*|\/\/|"|'/) == 0) {
            text = text line
            break
        } else {
            opener = substr(line, RSTART, RLENGTH)
            text = text substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (opener == "//") break
            if (opener == "/*") { in_comment = 1; text = text " "; continue }
            # A literal ends at the first quote that no backslash escapes.
            while (line != "" && substr(line, 1, 1) != opener) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2)
            text = text opener opener
        }
    }
    print FILENAME ":" FNR ":" text
}
