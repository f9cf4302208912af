/* attnd help --man: the commands and settings as a man page, in the roff of man(7) that groff and mandoc read.
 * Says nothing of its own but the frame: the words are those of --help. */
#include "cli.h"
#include "config/cfg.h"
#include "server/version.h"

#include <stddef.h>

/* A character beyond ASCII by its number, which needs no preprocessor; its last byte is returned. */
static const char *put_character(FILE *out, const char *text) {
    unsigned char first = (unsigned char)*text;
    unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1, number = first & (0x3fU >> more);
    for (; more > 0 && text[1]; more--)
        number = number << 6 | ((unsigned char)*++text & 0x3fU);
    fprintf(out, "\\[u%04X]", number);
    return text;
}

/* Text as it is: a backslash or hyphen stands for itself, and no line becomes a request. */
static void put_text(FILE *out, const char *text) {
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", out);
        begins = *text == '\n';
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if ((unsigned char)*text >= 0x80)
            text = put_character(out, text);
        else
            fputc(*text, out);
    }
}

static void put_command(FILE *out, const srv_command *command) {
    fputs(".SS ", out);
    put_text(out, command->name);
    fputs("\n.B attnd ", out);
    put_text(out, command->name);
    if (command->arguments[0]) {
        fputs("\n.I ", out);
        put_text(out, command->arguments);
    }
    fputs("\n.PP\n", out);
    put_text(out, command->summary);
    fputc('\n', out);
    if (!command->details) return;
    fputs(".PP\n.nf\n", out);
    put_text(out, command->details);
    fputs(".fi\n", out);
}

static void put_setting(FILE *out, const cfg_description *setting) {
    fputs(".TP\n.BI ", out);
    put_text(out, setting->flag);
    fprintf(out, " \" %s\"\n", setting->value);
    put_text(out, setting->help);
    for (size_t i = 0; setting->choices && setting->choices[i]; i++) {
        fputs(i == 0 ? ": " : ", ", out);
        put_text(out, setting->choices[i]);
    }
    fputs("\n.br\n", out);
    put_text(out, setting->environment);
    if (setting->path) fprintf(out, ", %s in the file", setting->path);
    if (setting->fallback) {
        fputs("; default ", out);
        put_text(out, setting->fallback);
    }
    fputc('\n', out);
}

void srv_help_man(FILE *out) {
    cfg_description setting;
    fprintf(out,
            ".TH ATTND 1 \"\" \"attnd %s\" \"User Commands\"\n"
            ".SH NAME\nattnd \\- attention inference service\n"
            ".SH SYNOPSIS\n.B attnd\n.I COMMAND\n.RI [ ARGUMENTS ]\n"
            ".SH DESCRIPTION\nAnswers attention requests over HTTP: outputs and per\\-head attention maps.\n"
            ".SH COMMANDS\n",
            SRV_VERSION.version);
    for (const srv_command *command = srv_commands; command->name; command++)
        put_command(out, command);
    fputs(".SH SETTINGS\nA flag is stronger than the environment, that than the file, that than the "
          "default.\n" CFG_LISTS "\n",
          out);
    for (size_t i = 0; cfg_describe(i, &setting); i++)
        put_setting(out, &setting);
    fputs(".SH EXIT STATUS\n0 fine, 1 failed or refused, 2 usage or configuration.\n", out);
}
