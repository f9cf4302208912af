"""Lines of the table that say what is to be reached: a figure, and how much or how little it should be."""


class Targets:
    def __init__(self):
        self.rows = []

    def add(self, name, value, unit, at_most=None, at_least=None, **more):
        """`value` None: it could not be measured; `more` goes into the file, and of it `ms` to the line's end."""
        row = {"name": name, "value": value, "unit": unit}
        if at_most is not None:
            row |= {"at_most": at_most, "reached": None if value is None else value <= at_most}
        else:
            row |= {"at_least": at_least, "reached": None if value is None else value >= at_least}
        row |= more
        self.rows.append(row)
        print(self.line(row), flush=True)

    @staticmethod
    def line(row):
        sign, target = ("≤", row["at_most"]) if "at_most" in row else ("≥", row["at_least"])
        found = "–" if row["value"] is None else f"{row['value']:.2f}"
        verdict = {True: "reached", False: "short", None: "not measured"}[row["reached"]]
        whole = f" ({row['ms']:.1f} ms)" if row.get("ms") else ""
        return f"  {row['name']:<66} {found:>7}  {sign} {target:<4g} {row['unit']:<17} {verdict}{whole}"
