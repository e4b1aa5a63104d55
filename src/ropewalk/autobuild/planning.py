"""The plan of a build, with reasons: the options of each stage, chosen from the counts of a survey.

Planning reads and writes no files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ropewalk.autobuild.survey import UNSPACED
from ropewalk.decoding.expected import LONGEST
from ropewalk.errors import ConfigError
from ropewalk.models import tag_columns
from ropewalk.models.tags import MOST_WHOLE
from ropewalk.options import MINUTES, MOST_THREADS, changed, checked, option
from ropewalk.segmentation.segmenter_config import SegmenterConfig
from ropewalk.training.config import MEAN, Config, EncoderOptions
from ropewalk.training.mixing import PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ropewalk.autobuild.survey import Survey

PROJECTIVE, LIFTED = "four-bit", "four-bit+head"
CANDIDATES = (PROJECTIVE, LIFTED)  # encodings whose coverage is measured
GAIN = 0.002  # least gain of coverage (LAS) for which heads are encoded in relations
LOST = 0.03  # loss of LAS through encoding above which the parser uses arcs alone
UNSUMMED = 0.1  # above this share of words in sentences too long for sums over trees, words are learnt one by one
HEAT = 2.0  # decoding temperature during training; calibration fits it at the end
SPACED = 0.02  # share of words with spaces inside from which on the segmenter reads pairs of chunks
# The share of multiword tokens, and of different ones among them, from which on they are an open class.
MANY, OPEN = 0.01, 0.2
SEGMENTER_SHARE, RESERVE = 0.15, 0.08  # shares of the time: for the segmenter, and at least for export and scoring
LEAST = 0.1  # least share of the time for training parsers
EXPORT = 3  # export and scoring of a parser take this many times as long as the export of a segmenter
FEW = 500  # with fewer sentences of train, the plan warns
LONG = 300  # from this many words in a sentence on, the plan warns
SMALL, MEDIUM = 20_000, 100_000  # words of train
WIDER = 60_000  # words of train from which on layers are wider
TAGGING = 0.6  # weight of each tag column in the loss
TAUGHT, TEACHING = 0.6, 0.55  # the teachers' share of the loss, and of the training time
EPOCHS = 8_000  # divided by the square root of the words of train: a parser's epochs
BATCH, LARGER_BATCH = 200, 300  # words of a parser's batch below and from `WIDER` words of train on
READ_AS_TEXT = 2_500_000  # words that a segmenter reads in all its epochs
RENAMED = 0.2  # share of sentences of the segmenter's training in which names replace nouns
READ_BY_ENCODER = 1_600_000  # words that a parser with a pretrained encoder reads in all its epochs
OF_FILE = EncoderOptions().most_vectors  # most words with static vectors from a file
OF_PIECES = 12_000  # most words with static vectors from pieces; more would make a small model too large


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build."""

    minutes: float = option(60.0, low=0, high=MINUTES)  # time limit; 0: none
    encoder: str = ""  # a pretrained one, a local folder or a name on the hub
    vectors: str = ""  # a file of static word vectors, or a folder of pieces of words
    seed: int = option(1, low=0, high=2**31 - 1)
    threads: int = option(0, low=0, high=MOST_THREADS)
    teachers: int = option(0, low=0, high=20)  # number of teachers: parsers with other seeds, trained first
    changes: tuple[str, ...] = ()  # options that the user sets for parser or segmenter: parser.a.b=c


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice in a plan: its subject, the chosen value, the reason, and the options that it sets, by dotted name."""

    what: str
    value: str
    reason: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of the segmenter and the parser, the choices that led to them, and what the model will lack.

    `lacks` has sentences for the user, such as that there are no lemmas.
    """

    segmenter: SegmenterConfig
    parser: Config
    teachers: int  # number of parsers with other seeds that teach it
    choices: tuple[Choice, ...]
    lacks: tuple[str, ...]
    texts: tuple[str, ...] = ()  # names of several treebanks that the segmenter learns from


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """The vector size of a pretrained encoder or of static vectors, and the fraction of words that it knows."""

    size: int
    known: float
    most: int = OF_FILE  # most words with static vectors


def plan(survey: Survey, options: BuildOptions, about: Mapping[str, Any], reader: ReaderFacts | None = None) -> Plan:
    """Choose the options of all stages, with reasons.

    `about` has the name and licence of the treebank, `reader` the size and coverage of its encoder or vectors. Changes
    that the user made in `options` come last. Raise `ConfigError` if such a change is impossible.
    """
    encoding = _encoding(survey)
    teachers = options.teachers if "parser.model.encoding" in encoding.options else 0  # arcs alone learn from none
    choices = [
        _treebanks(survey, options),
        _development(survey),
        encoding,
        _learning(survey, encoding.options),
        _tags(survey),
        _features(survey),
        _encoder(survey, options, reader),
        _epochs(survey, options, 1 if teachers else 0),
        _teaching(teachers),
        _texts(survey),
        _characters(survey),
        _segmenter_epochs(survey),
        _time(options),
    ]
    chosen = tuple(choice for choice in choices if choice is not None)
    table: dict[str, Any] = {
        part: {"seed": options.seed, "data": dict(about), "training": {"threads": options.threads}}
        for part in ("parser", "segmenter")
    }
    table["parser"]["data"]["bad_trees"] = "skip"
    table["parser"]["training"]["device"] = "auto"
    for choice in chosen:
        for name, value in choice.options.items():
            *above, last = name.split(".")
            at = table
            for part in above:
                at = at.setdefault(part, {})
            at[last] = value
    table = changed(table, options.changes)
    chosen = tuple(_with_changes(choice, options.changes) for choice in chosen)
    if foreign := sorted(table.keys() - {"parser", "segmenter"}):
        raise ConfigError(
            "--set", foreign[0], "is unknown; expected parser.… or segmenter.…, as in parser.model.hidden=64"
        )
    return Plan(
        checked(SegmenterConfig, table["segmenter"], "segmenter"),
        checked(Config, table["parser"], "parser"),
        teachers,
        chosen,
        _lacks(survey, about),
        tuple(treebank.name for treebank in survey.treebanks if not treebank.apart),
    )


def _with_changes(choice: Choice, changes: Sequence[str]) -> Choice:
    """Return a choice that says which of its options the user has changed."""
    own = [change for change in changes if change.partition("=")[0].strip() in choice.options]
    return replace(choice, value=f"{choice.value}; changed: {', '.join(own)}") if own else choice


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _treebanks(survey: Survey, options: BuildOptions) -> Choice | None:
    """Describe the treebanks if there are several: the main one, and what keeps their conventions apart."""
    if not survey.treebanks:
        return None
    main, *others = survey.treebanks
    value = f"{main.name} is the main one ({main.words:,} words of train); also " + ", ".join(
        f"{other.name} ({other.words:,})" for other in others
    )
    if options.encoder:
        reason = "they are learnt as one, because only encoders without pretraining keep their conventions apart"
    else:
        reason = (
            "a learnt vector for each keeps their conventions apart; dev, test and output are those of the main one"
        )
    return Choice("treebanks", value, reason, {"parser.data.styles": [treebank.name for treebank in survey.treebanks]})


def _texts(survey: Survey) -> Choice | None:
    """Choose the treebanks that the segmenter learns from, if there are several."""
    if not survey.treebanks:
        return None
    used = [treebank.name for treebank in survey.treebanks if not treebank.apart]
    left = [f"{treebank.name}: {treebank.apart}" for treebank in survey.treebanks if treebank.apart]
    reason = f"not from {'; '.join(left)}" if left else "all have the language of the main one and its spaces"
    return Choice("treebanks of the segmenter", ", ".join(used), reason, {})


def _development(survey: Survey) -> Choice:
    size = f"{survey.dev_sentences:,} sentences, {survey.dev_words:,} words"
    if survey.held_out:
        reason = "there is no dev file; the best epoch is chosen on them"
        return Choice("development data", f"held out of train: {size}", reason, {})
    return Choice("development data", f"the dev file: {size}", "the best epoch is chosen on it", {})


def _encoding(survey: Survey) -> Choice:
    """Choose the encoding of trees by its measured coverage.

    It is projective with lifted arcs, the same with heads in relations to undo lifting, or none: a parser with arcs
    alone.
    """
    if not survey.coverage:
        reason = "no tree is good enough to measure others on"
        return Choice("trees", f"{PROJECTIVE} with arcs", reason, {"parser.model.encoding": PROJECTIVE})
    plain, lifted = survey.coverage[PROJECTIVE], survey.coverage[LIFTED]
    where = f"of {survey.covered_part}"
    if max(plain, lifted) < 1 - LOST:
        return Choice(
            "trees",
            "arcs alone (biaffine)",
            f"arcs cross so much that only {_percent(max(plain, lifted))} {where} come back from labels",
            {"parser.model.parser": "biaffine"},
        )
    if lifted - plain >= GAIN:
        encoding = LIFTED
        reason = (
            f"crossing arcs are lifted and relations tell from where: {_percent(lifted)} {where} come back, without "
            f"that {_percent(plain)}"
        )
    else:
        encoding = PROJECTIVE
        reason = (
            f"crossing arcs are lifted: {_percent(plain)} {where} come back; relations that tell from where would not "
            f"help much: {_percent(lifted)}"
        )
    return Choice("trees", f"{encoding} with arcs", reason, {"parser.model.encoding": encoding})


def _learning(survey: Survey, trees: Mapping[str, Any]) -> Choice:
    """Choose the loss and the decoder: whole trees with the highest expected accuracy, or each word alone.

    `trees` has the options that the choice of the encoding set.
    """
    labels = "parser.model.encoding" in trees
    if survey.unsummed > UNSUMMED:
        joint = {"parser.model.arc_weight": 1.0, "parser.decoding.decoder": "joint", "parser.decoding.confidence": True}
        return Choice(
            "learning",
            f"each word's {'label and arc alone, decoded jointly' if labels else 'arc alone, best spanning tree'}",
            f"{_percent(survey.unsummed)} of the words are in sentences of more than {LONGEST} words, whose trees are "
            "not summed",
            joint if labels else {},
        )
    long = (
        f"; sentences of more than {LONGEST} words, {_percent(survey.unsummed)} of all words, are learnt word by word"
        if survey.unsummed
        else ""
    )
    decoding = {"parser.decoding.temperature": HEAT, "parser.decoding.confidence": True}
    if not labels:
        return Choice(
            "learning",
            "whole trees, also with crossing arcs; the tree with the highest expected accuracy (mbr-nonprojective)",
            f"arcs cross, so the sum is over all trees{long}",
            {
                "parser.model.loss": "trees-nonprojective",
                "parser.decoding.decoder": "mbr-nonprojective",
                **decoding,
            },
        )
    return Choice(
        "learning",
        "whole trees; the tree with the highest expected accuracy (mbr); relations from word and head",
        "1.0 to 3.8 LAS above arcs learnt word by word on treebanks of 6 to 24 thousand words, 0.3 on one of 200 "
        f"thousand; this one has {survey.words:,}{long}",
        {
            "parser.model.loss": "trees",
            "parser.model.relations.from": "word+head",
            "parser.decoding.decoder": "mbr",
            **decoding,
        },
    )


def _tags(survey: Survey) -> Choice:
    present = [name for name in tag_columns.OWN if survey.columns.get(name, 0.0) >= PRESENT]
    missing = [name.upper() for name in tag_columns.OWN if name not in present]
    reason = "the columns that the treebank has" + (f"; it has no {', no '.join(missing)}" if missing else "")
    learnt: dict[str, Any] = {
        "parser.model.tags": present,
        "parser.model.tag_weight": TAGGING,
        "parser.training.metric": MEAN,
    }
    if "lemma" in present:
        learnt["parser.model.least_rules"] = survey.least_rules
    rules = f"; lemma rules occur {survey.least_rules} times or more" if "lemma" in present else ""
    return Choice("tags", (", ".join(present) or "none") + rules, reason, learnt)


def _features(survey: Survey) -> Choice | None:
    if survey.columns.get("feats", 0.0) < PRESENT:
        return None
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
    hidden = 128 if survey.words < WIDER or survey.crowded else 144
    classifier = 64 if survey.features > MOST_WHOLE else 128  # each feature apart has a classifier of its own
    vectors = (
        f", and static vectors of {reader.size}, which {_percent(reader.known)} of the words have" if reader else ""
    )
    return Choice(
        "reader",
        f"three layers of simple recurrent units, {hidden} each way, over shapes, characters, and words and affixes "
        f"that occur {survey.least_count} times or more{vectors}",
        f"{survey.words:,} words of train; no pretrained encoder was named (--encoder)",
        {
            "parser.model.encoder.kind": "sru",
            "parser.model.encoder.vectors": options.vectors,
            "parser.model.encoder.most_vectors": reader.most if reader else OF_FILE,
            "parser.model.encoder.least_count": survey.least_count,
            "parser.model.encoder.word_size": 64,
            "parser.model.encoder.affix_size": 64,
            "parser.model.encoder.shape_size": 16,
            "parser.model.encoder.character_size": 32,
            "parser.model.encoder.hidden": hidden,
            "parser.model.encoder.depth": 3,
            "parser.model.encoder.dropout": 0.33,
            "parser.model.dropout": 0.33,
            "parser.model.hidden": classifier,
            "parser.model.relations.hidden": 128,
            "parser.model.biaffine.arc_size": 128,
            "parser.training.encoder_rate": 2e-3,
            "parser.training.head_rate": 2e-3,
        },
    )


def _teaching(teachers: int) -> Choice | None:
    if not teachers:
        return None
    return Choice(
        "teachers",
        f"{teachers} parsers with other seeds; they also say what they think of a copy of train with other words",
        "--teachers",
        {"parser.teacher.weight": TAUGHT, "parser.teacher.copies": 1},
    )


def _epochs(survey: Survey, options: BuildOptions, copies: int) -> Choice:
    if options.encoder:
        epochs = _within(READ_BY_ENCODER // survey.words, 4, 30)
        batch = 200 if survey.words < SMALL else 500
    else:
        epochs = _within(round(EPOCHS / survey.words**0.5), 12, 70)
        batch = BATCH if survey.words < WIDER else LARGER_BATCH
    epochs //= 1 + copies
    return Choice(
        "epochs",
        f"{epochs}, batches of {batch}",
        f"{survey.words:,} words of train, the fewer the more often; the best epoch on the development data is kept",
        {"parser.training.epochs": epochs, "parser.training.batch": batch},
    )


def _characters(survey: Survey) -> Choice:
    """Choose the segmenter's network: the fewer spaces between words, the more neighbouring characters it reads."""
    script = f"{survey.script or 'no'} script{', right to left' if survey.right_to_left else ''}"
    if survey.text.unspaced >= UNSPACED:
        return Choice(
            "raw text",
            "a segmenter that sees 14 characters to each side and knows the treebank's words",
            f"{script}; {_percent(survey.text.unspaced)} of the words follow each other without a space",
            {
                "segmenter.model.character_dilations": [1, 2, 4],
                "segmenter.model.character_size": 48,
                "segmenter.model.character_hidden": 96,
                "segmenter.model.character_skips": True,
                "segmenter.model.dictionary_length": 12,
                "segmenter.model.gram_size": 12,
                "segmenter.model.word_size": 8,
                "segmenter.model.chunk_hidden": 48,
                "segmenter.model.chunk_dilations": [1, 2],
                "segmenter.model.hidden": 96,
                "segmenter.model.dropout": 0.5,
                "segmenter.model.least_characters": 2,
                "segmenter.training.tag_weight": 0.3,
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
    if text.multiwords >= MANY * survey.main_words and text.multiword_kinds >= OPEN * text.multiwords:
        return Choice(
            "raw text",
            "a segmenter that goes by spaces and six characters to each side",
            f"{script}{several}, {text.multiword_kinds:,} different ones: their ends or beginnings tell",
            {
                "segmenter.model.character_dilations": [1, 2],
                "segmenter.model.character_hidden": 96,
                "segmenter.training.renamed": RENAMED,
            },
        )
    return Choice(
        "raw text",
        "a segmenter that goes by spaces and four characters to each side",
        f"{script}; words have spaces between them ({_percent(survey.text.unspaced)} do not){several}",
        {"segmenter.model.character_dilations": [1, 1], "segmenter.training.renamed": RENAMED},
    )


def _segmenter_epochs(survey: Survey) -> Choice:
    epochs = _within(READ_AS_TEXT // survey.segmenter_words, 20, 40 if survey.spaced >= SPACED else 60)
    batch = 400 if survey.segmenter_words >= MEDIUM else 200 if survey.segmenter_words >= SMALL else 100
    if survey.text.unspaced >= UNSPACED:  # where a stretch between spaces is long
        epochs = _within(epochs // 2, 20, 30)  # a larger network, and a dictionary that learns nothing new
        batch //= 4
    return Choice(
        "epochs of the segmenter",
        f"{epochs}, batches of {batch}",
        f"{survey.segmenter_words:,} words of train",
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
    """Return the minutes left for training parsers, after a build has taken `seconds`; 0 means no limit.

    `export` is the number of seconds that exporting the segmenter took. A multiple of it is reserved for exporting and
    scoring the parser.
    """
    if not options.minutes:
        return 0.0
    reserve = max(RESERVE * options.minutes, EXPORT * export / 60)
    return round(max(options.minutes - seconds / 60 - reserve, LEAST * options.minutes), 3)


def _lacks(survey: Survey, about: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences for the user: what the treebank lacks, and the consequences for the model."""
    checks = (
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
    return (*_lacks_of_treebanks(survey), *(text for holds, text in checks if holds))


def _lacks_of_treebanks(survey: Survey) -> Iterator[str]:
    """Yield sentences for the user about each of several treebanks: dropped sentences, and columns that it lacks."""
    for treebank in survey.treebanks:
        if treebank.dropped:
            yield (
                f"{treebank.name}: {treebank.dropped:,} sentences of train were dropped, because their text is in the "
                "dev or test data of one of the treebanks"
            )
        if treebank.lacking:
            names = " and ".join(name.upper() for name in treebank.lacking)
            yield f"{treebank.name} has no {names}, which is learnt from the other treebanks alone"


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
