"""Examples for the help of every command, written as a person would type them."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("panelist demo", "panelist demo --keep-serving --output my-demo"),
    "init": ("panelist init help-desk", "panelist init forecasts --template vas"),
    "check": ("panelist check help-desk", "panelist check repeat --against original -o deviations.md"),
    "power": (
        "panelist power --items 50,100 --ratings-per-item 3,5 --effects 0.25,0.5",
        "panelist power --study help-desk --effects 0.5,1 --figure power.svg",
        "panelist power --pilot pilot.csv --criterion fluency --items 100,200",
    ),
    "power paper": ("panelist power paper -o howcroft-rieser",),
    "size": (
        "panelist size --effect 0.5 --power 0.8",
        "panelist size --study help-desk --effect 0.5 --budget 400",
    ),
    "plan": ("panelist plan help-desk",),
    "plan extend": (
        "panelist plan extend help-desk --add 3",
        "panelist plan extend help-desk --replace r003",
    ),
    "preregister": (
        "panelist preregister help-desk --draft",
        "panelist preregister help-desk -o preregistration.md",
    ),
    "simulate": (
        "panelist simulate help-desk",
        "panelist simulate help-desk --web http://127.0.0.1:8000 --raters 9",
    ),
    "serve": (
        "panelist serve help-desk",
        "panelist serve help-desk --host 0.0.0.0 --url https://rate.example.org",
    ),
    "links": ("panelist links help-desk --count 9 -o links.csv",),
    "recruit": (
        "panelist recruit help-desk draft --url https://rate.example.org --dry-run",
        "panelist recruit help-desk status",
    ),
    "export": (
        "panelist export help-desk -o ratings.csv",
        "panelist export help-desk --what visits -o visits.xlsx",
    ),
    "backup": ("panelist backup help-desk -o help-desk.backup",),
    "restore": ("panelist restore help-desk.backup help-desk",),
    "forget": (
        "panelist forget help-desk --rater 5f2d8a10c3",
        "panelist forget help-desk --rater 5f2d8a10c3 --yes",
    ),
    "import": (
        "panelist import Batch_123.csv --draft",
        "panelist import Batch_123.csv --mapping mapping.yaml -o ratings.csv",
    ),
    "report": (
        "panelist report help-desk",
        "panelist report ratings.csv -o report.html --across-criteria holm",
    ),
    "heds fill": (
        "panelist heds fill help-desk -o heds.json -o heds.html",
        "panelist heds fill help-desk --ask",
    ),
    "heds lint": ("panelist heds lint heds.json",),
    "heds convert": ("panelist heds convert card-2x.json --to 3.0 -o card-3.json",),
    "heds diff": ("panelist heds diff original.json help-desk",),
    "archive": ("panelist archive help-desk -o help-desk.zip",),
    "verify": ("panelist verify help-desk.zip",),
    "agreement": (
        "panelist agreement help-desk",
        "panelist agreement ratings.csv --criterion fluency --raters",
    ),
    "compare": (
        "panelist compare help-desk",
        "panelist compare ratings.csv --criterion fluency --reference baseline",
        "panelist compare ratings.csv --where language=en --figure systems.svg",
        "panelist compare ratings.csv --judge judges.csv",
    ),
    "judges worth": (
        "panelist judges worth ratings.csv judges.csv",
        "panelist judges worth ratings.csv --judge-columns gpt,bleu --interval both",
    ),
    "scales": ("panelist scales likert.csv slider.csv --names VDS-7,VAS",),
    "reproduce": ("panelist reproduce original.csv repeat.csv --scale-min 1",),
    "reproduce size": ("panelist reproduce size original.csv", "panelist reproduce size --n 20 --p 0.04"),
    "fit": (
        "panelist fit help-desk --criterion fluency",
        "panelist fit ratings.csv -f 'rating ~ system + (1 | rater) + (1 | item)'",
    ),
    "schema": ("panelist schema -o study.schema.json",),
}


def write_epilog(command: str) -> str:
    """Return the end of a command's help; nothing where there is no example."""
    examples = EXAMPLES.get(command, ())
    heading = "Example:" if len(examples) == 1 else "Examples:"
    return "\n".join(["\b", heading, *(f"  {line}" for line in examples)]) if examples else ""
