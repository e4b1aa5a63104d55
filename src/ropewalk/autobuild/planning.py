"""What a build will do, and why: a pure function from what was seen of the data to the options of each stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ConfigError
from ropewalk.models.tags import MOST_WHOLE, TAGS
from ropewalk.options import MINUTES, MOST_THREADS, changed, checked, option
from ropewalk.segmentation.segmenter_config import SegmenterConfig
from ropewalk.training.config import MEAN, Config, EncoderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.autobuild.survey import Survey

PROJECTIVE, LIFTED = "four-bit", "four-bit+head"
CANDIDATES = (PROJECTIVE, LIFTED)  # encodings whose coverage is measured
GAIN = 0.002  # LAS that relations with heads in them must bring back to be worth their number
LOST = 0.03  # LAS that labels may lose before arcs alone parse
PRESENT = 0.02  # share of words with a value that makes a column worth predicting
UNSPACED = 0.5  # share of words without a space between them in a script that has none
SPACED = 0.02  # share of words with spaces inside, where to find them is work
MANY, OPEN = (
    0.01,
    0.2,
)  # share of multiword tokens, and of different ones among them, from which on they are an open class
SEGMENTER_SHARE, RESERVE = 0.15, 0.08  # of the time: the segmenter's, and what at least is left for export and scores
LEAST = 0.1  # of the time, that a parser learns in any case
EXPORT = 3  # times as long as the end of a segmenter's training, which exports too, those take
FEW = 500  # sentences
LONG = 300  # words of a sentence
SMALL, MEDIUM = 20_000, 100_000  # words of train
TAGGING = 0.6  # what each column of tags counts beside trees
TAUGHT, TEACHING = 0.6, 0.55  # the teachers' share of what is learnt, and of the time
READ = 3_000_000  # words that a parser reads in all its epochs,
READ_AS_TEXT = 5_000_000  # and a segmenter
READ_BY_ENCODER = 1_600_000  # likewise, and a pretrained encoder
OF_FILE = EncoderOptions().most_vectors  # words whose static vectors a model gets from a file,
OF_PIECES = 12_000  # and from pieces, which make more than a small model has room for


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a build is told beside its data."""

    minutes: float = option(60.0, low=0, high=MINUTES)  # that it may take; 0: any number
    encoder: str = ""  # a pretrained one, a local folder or a name on the hub
    vectors: str = ""  # a file of static word vectors, or a folder of pieces of words
    seed: int = option(1, low=0, high=2**31 - 1)
    threads: int = option(0, low=0, high=MOST_THREADS)
    teachers: int = option(0, low=0, high=20)  # parsers with other seeds that are trained first and teach
    changes: tuple[str, ...] = ()  # options of the parser or the segmenter that are set otherwise: parser.a.b=c


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that was chosen, the reason, and the options that it sets, by their dotted names."""

    what: str
    value: str
    reason: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of each stage, what was chosen to get there, and what the model will lack."""

    segmenter: SegmenterConfig
    parser: Config
    teachers: int  # parsers with other seeds that teach it
    choices: tuple[Choice, ...]
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """What is known of a pretrained encoder or of static vectors: its size, and the share of words that it knows."""

    size: int
    known: float
    most: int = OF_FILE  # words that have static vectors


def plan(survey: Survey, options: BuildOptions, about: Mapping[str, Any], reader: ReaderFacts | None = None) -> Plan:
    """Choose the options of all stages; `about` is the table of data: files, name and licence."""
    encoding = _encoding(survey)
    teachers = options.teachers if "parser.model.encoding" in encoding.options else 0  # arcs alone learn from none
    choices = (
        _development(survey),
        encoding,
        _tags(survey),
        _features(survey),
        _encoder(survey, options, reader),
        _epochs(survey, options, 1 if teachers else 0),
        _teaching(teachers),
        _characters(survey),
        _segmenter_epochs(survey),
        _time(options),
    )
    table: dict[str, Any] = {
        part: {"seed": options.seed, "data": dict(about), "training": {"threads": options.threads}}
        for part in ("parser", "segmenter")
    }
    table["parser"]["data"]["bad_trees"] = "skip"
    table["parser"]["training"]["device"] = "auto"
    for choice in choices:
        for name, value in choice.options.items():
            _put(table, name.split("."), value)
    table = changed(table, options.changes)
    if foreign := sorted(table.keys() - {"parser", "segmenter"}):
        raise ConfigError(
            "--set", foreign[0], "is unknown; expected parser.… or segmenter.…, as in parser.model.hidden=64"
        )
    return Plan(
        checked(SegmenterConfig, table["segmenter"], "segmenter"),
        checked(Config, table["parser"], "parser"),
        teachers,
        tuple(choice for choice in choices if choice.what),
        _lacks(survey, about),
    )


def _put(table: dict[str, Any], path: Sequence[str], value: object) -> None:
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _development(survey: Survey) -> Choice:
    size = f"{survey.dev_sentences:,} sentences, {survey.dev_words:,} words"
    if survey.held_out:
        return Choice(
            "development data",
            f"held out of train: {size}",
            "there is no dev file; the best epoch is chosen on them",
            {},
        )
    return Choice("development data", f"the dev file: {size}", "the best epoch is chosen on it", {})


def _encoding(survey: Survey) -> Choice:
    """Choose by measured coverage: lifted arcs, their heads in relations, or arcs alone."""
    labels = {"parser.model.arc_weight": 1.0, "parser.decoding.decoder": "joint", "parser.decoding.confidence": True}
    if not survey.coverage:
        return Choice(
            "trees",
            PROJECTIVE,
            "no tree is good enough to measure others on",
            {"parser.model.encoding": PROJECTIVE, **labels},
        )
    plain, lifted = survey.coverage[PROJECTIVE], survey.coverage[LIFTED]
    where = f"of {survey.covered_part}"
    if max(plain, lifted) < 1 - LOST:
        return Choice(
            "trees",
            "arcs alone (biaffine), best spanning tree",
            f"arcs cross so much that only {_percent(max(plain, lifted))} {where} come back from labels; trees will "
            "have no probabilities",
            {"parser.model.parser": "biaffine"},
        )
    if lifted - plain >= GAIN:
        return Choice(
            "trees",
            f"{LIFTED} with arcs, decoded jointly",
            f"crossing arcs are lifted and relations tell from where: {_percent(lifted)} {where} come back, without "
            f"that {_percent(plain)}",
            {"parser.model.encoding": LIFTED, **labels},
        )
    return Choice(
        "trees",
        f"{PROJECTIVE} with arcs, decoded jointly",
        f"crossing arcs are lifted: {_percent(plain)} {where} come back; relations that tell from where would not help "
        f"much: {_percent(lifted)}",
        {"parser.model.encoding": PROJECTIVE, **labels},
    )


def _tags(survey: Survey) -> Choice:
    present = [name for name in TAGS if survey.columns.get(name, 0.0) >= PRESENT]
    missing = [name.upper() for name in TAGS if name not in present]
    reason = "the columns that the treebank has" + (f"; it has no {', no '.join(missing)}" if missing else "")
    learnt = {"parser.model.tags": present, "parser.model.tag_weight": TAGGING, "parser.training.metric": MEAN}
    return Choice("tags", ", ".join(present) or "none", reason, learnt)


def _features(survey: Survey) -> Choice:
    if survey.columns.get("feats", 0.0) < PRESENT:
        return Choice("", "", "", {})
    apart = survey.features > MOST_WHOLE
    return Choice(
        "features",
        "each apart" if apart else "whole values",
        f"there are {survey.features:,} values of FEATS, {'more than' if apart else 'at most'} {MOST_WHOLE}",
        {"parser.model.feats": "apart" if apart else "whole"},
    )


def _encoder(survey: Survey, options: BuildOptions, reader: ReaderFacts | None) -> Choice:
    if options.encoder and reader is not None:
        rate = 3e-4 if reader.size < 512 else 5e-5 if reader.size < 1024 else 1e-5
        return Choice(
            "reader",
            f"the encoder {options.encoder}, rate {rate:g}",
            f"--encoder; it has vectors of {reader.size} and knows all pieces of {_percent(reader.known)} of the words",
            {
                "parser.model.encoder.kind": "transformer",
                "parser.model.encoder.name": options.encoder,
                "parser.model.encoder.freeze_embeddings": True,
                "parser.model.dropout": 0.2,
                "parser.training.encoder_rate": rate,
                "parser.training.head_rate": 1e-3,
            },
        )
    hidden = 128 if survey.words < SMALL else 144
    vectors = (
        f", and static vectors of {reader.size}, which {_percent(reader.known)} of the words have" if reader else ""
    )
    return Choice(
        "reader",
        f"two LSTMs of {hidden} each way over words, affixes, shapes and characters{vectors}",
        f"{survey.words:,} words of train; no pretrained encoder was named (--encoder)",
        {
            "parser.model.encoder.kind": "bilstm",
            "parser.model.encoder.vectors": options.vectors,
            "parser.model.encoder.most_vectors": reader.most if reader else OF_FILE,
            "parser.model.encoder.word_size": 64,
            "parser.model.encoder.affix_size": 64,
            "parser.model.encoder.shape_size": 16,
            "parser.model.encoder.character_size": 32,
            "parser.model.encoder.input_size": 128,
            "parser.model.encoder.hidden": hidden,
            "parser.model.encoder.depth": 2,
            "parser.model.encoder.dropout": 0.33,
            "parser.model.dropout": 0.33,
            "parser.model.hidden": 128,
            "parser.model.relations.hidden": 128,
            "parser.model.biaffine.arc_size": 128,
            "parser.training.encoder_rate": 2e-3,
            "parser.training.head_rate": 2e-3,
        },
    )


def _teaching(teachers: int) -> Choice:
    if not teachers:
        return Choice("", "", "", {})
    return Choice(
        "teachers",
        f"{teachers} parsers with other seeds; they also say what they think of a copy of train with other words",
        "--teachers",
        {"parser.teacher.weight": TAUGHT, "parser.teacher.copies": 1},
    )


def _epochs(survey: Survey, options: BuildOptions, copies: int) -> Choice:
    if options.encoder:
        epochs = _within(READ_BY_ENCODER // survey.words, 4, 30)
    else:
        epochs = _within(READ // survey.words, 12, 80)
    epochs //= 1 + copies
    batch = 200 if survey.words < SMALL else 500
    return Choice(
        "epochs",
        f"{epochs}, batches of {batch}",
        f"{survey.words:,} words of train, the fewer the more often; the best epoch on the development data is kept",
        {"parser.training.epochs": epochs, "parser.training.batch": batch},
    )


def _characters(survey: Survey) -> Choice:
    """Choose what of its neighbours a segmenter sees: where no spaces help, more characters."""
    script = f"{survey.script or 'no'} script{', right to left' if survey.right_to_left else ''}"
    if survey.text.unspaced >= UNSPACED:
        return Choice(
            "raw text",
            "a segmenter that sees 14 characters to each side",
            f"{script}; {_percent(survey.text.unspaced)} of the words follow each other without a space",
            {
                "segmenter.model.character_dilations": [1, 2, 4],
                "segmenter.model.character_size": 48,
                "segmenter.model.character_hidden": 96,
                "segmenter.model.least_characters": 2,
            },
        )
    if survey.spaced >= SPACED:
        return Choice(
            "raw text",
            "a segmenter that goes by pairs of neighbours between spaces",
            f"{script}; {_percent(survey.spaced)} of the words have spaces inside, so neighbours go together or not",
            {  # a network that knows little of each word has to find out what they have in common
                "segmenter.model.character_dilations": [1, 1],
                "segmenter.model.chunk_dilations": [1, 2],
                "segmenter.model.word_size": 8,
                "segmenter.model.word_spread": 0.05,
                "segmenter.model.pair_size": 16,
                "segmenter.model.least_words": 1,
                "segmenter.training.forget_words": 0.2,
            },
        )
    text = survey.text
    several = f", {text.multiwords:,} tokens of several words" if text.multiwords else ""
    if text.multiwords >= MANY * survey.words and text.multiword_kinds >= OPEN * text.multiwords:
        return Choice(
            "raw text",
            "a segmenter that goes by spaces and six characters to each side",
            f"{script}{several}, {text.multiword_kinds:,} different ones: their ends or beginnings tell",
            {"segmenter.model.character_dilations": [1, 2], "segmenter.model.character_hidden": 96},
        )
    return Choice(
        "raw text",
        "a segmenter that goes by spaces and four characters to each side",
        f"{script}; words have spaces between them ({_percent(survey.text.unspaced)} do not){several}",
        {"segmenter.model.character_dilations": [1, 1]},
    )


def _segmenter_epochs(survey: Survey) -> Choice:
    epochs = _within(READ_AS_TEXT // survey.words, 24, 40 if survey.spaced >= SPACED else 80)
    batch = 400 if survey.words >= MEDIUM else 200 if survey.words >= SMALL else 100
    if survey.text.unspaced >= UNSPACED:  # where a stretch between spaces is long
        batch //= 4
    return Choice(
        "epochs of the segmenter",
        f"{epochs}, batches of {batch}",
        f"{survey.words:,} words of train",
        {"segmenter.training.epochs": epochs, "segmenter.training.batch": batch},
    )


def _time(options: BuildOptions) -> Choice:
    if not options.minutes:
        return Choice("time", "as long as it takes", "--minutes 0", {})
    return Choice(
        "time",
        f"at most {options.minutes:g} minutes",
        "epochs are cut short where the machine is too slow for them, and learning rates fall in time (--minutes)",
        {"segmenter.training.minutes": round(SEGMENTER_SHARE * options.minutes, 3)},
    )


def parser_minutes(options: BuildOptions, seconds: float, export: float) -> float:
    """Give the minutes that parsers may learn, 0 for any number, when so many seconds have gone by.

    `export` is how many seconds it took to write the segmenter after it had learnt: what is to come takes longer.
    """
    if not options.minutes:
        return 0.0
    reserve = max(RESERVE * options.minutes, EXPORT * export / 60)
    return round(max(options.minutes - seconds / 60 - reserve, LEAST * options.minutes), 3)


def _lacks(survey: Survey, about: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what the data do not have, and what that means for the model."""
    found = (
        (survey.sentences < FEW, f"{survey.sentences:,} sentences are very few: expect many mistakes"),
        (survey.bad_trees, f"{survey.bad_trees:,} sentences of train have no good tree and are not learnt from"),
        (not survey.has_test, "there is no test file: the model stays unscored but for its development data"),
        (survey.columns.get("lemma", 0.0) < PRESENT, "there are no lemmas: LEMMA stays empty"),
        (survey.columns.get("upos", 0.0) < PRESENT, "there are no parts of speech: UPOS stays empty"),
        (
            not survey.text.closed and not survey.text.texts,
            (
                "train has a space after every token and no running text (# text): the segmenter learns only text with "
                "spaces before punctuation"
            ),
        ),
        (
            survey.text.other_texts,
            (
                f"{survey.text.other_texts:,} sentences have other spaces in their # text than their tokens say; those "
                "of the tokens are learnt"
            ),
        ),
        (survey.longest >= LONG, f"the longest sentence of train has {survey.longest:,} words: steps with it are slow"),
        (survey.graphs, "the treebank's enhanced graphs are not learnt (docs/graphs.md)"),
        (
            not about.get("licence"),
            "no licence was found beside the treebank; the card says so (--set parser.data.licence=…)",
        ),
    )
    return tuple(text for holds, text in found if holds)


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
