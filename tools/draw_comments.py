"""Draws sentences at random from the comments of the C++ sources, so that a reviewer can judge how they read.

    draw_comments.py [--seed N] [--count N] [--json] [PATH...]

It prints a sentence per line, each after its file and line, in the order of the files. PATH is a file or a folder of the
project; without one, sentences come from include, src, apps, samples and examples. The same seed draws the same sentences
from the same sources. --json prints an array of objects with the keys `file`, `line` and `sentence`. Exit code: 2 when a
path is missing or the call is wrong, and otherwise 0.

A sentence ends at a full stop, a question mark, an exclamation mark or the end of its paragraph. These are left out:
names of unused parameters, `// [region]` markers, `// namespace x`, section rules, markers of tools (NOLINT, clang-format, req), and
lines indented by four or more spaces, which are code examples and drawings.

Mark each sentence that a native engineer would have to read twice, or would not say so. Rewrite what is marked, and look for
the same habit elsewhere. A review uses a seed that no earlier one used:

    seed 1    the first review: 300 sentences
    seed 2    the second review: 300 sentences, 20 marked
    seed 3    the third review: 300 sentences, 11 marked
    seed 4    the fourth review, by a stricter reader: 300 sentences, 28 marked to be read twice, 21 as said oddly
    seed 5    the fifth review, by the same kind of reader: 300 sentences, 19 and 16
    seed 6    the sixth review, with 61 sentences of LevelDB and Box2D mixed in, unknown to the reader: 19 and 24 of our
              300, 0 and 4 of the 61
    seed 7    the seventh review, of the same kind: 13 and 8 of our 300, 0 and 4 of the 61
    seed 8    the eighth review, of the same kind: 18 and 10 of our 300, 0 and 3 of the 61
    seed 9    the ninth review, by a reader who marks 3 for what cannot be followed at once, 2 for what no native would
              write, 1 for what could be smoother: 1, 2 and 17 of our 300, 1, 3 and 5 of 100 of LevelDB and Box2D
    seed 10   the tenth review, of the same kind: 1, 1 and 16 of our 300, 1, 4 and 8 of the 100
"""

import argparse
import json
import pathlib
import random
import re
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "apps", "samples", "examples")
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp"}

# What a line may hold outside of comments, of which a string or a character may contain `//`.
TOKEN = re.compile(r"""(?P<comment>//.*)|(?P<block>/\*)|R"(?P<delimiter>[^\s()\\"]{0,16})\(|"(?:\\.|[^"\\])*"|"""
                   r"""(?<![0-9A-Za-z_])'(?:\\.|[^'\\])+'""")
MARKER = re.compile(r"\[[\w/.-]+\]$|NOLINT|clang-format (?:on|off)|IWYU|req:|namespace\b|[-=]{3}")
ITEM = re.compile(r"(?:[-*]|\d+\.) +")
SENTENCE_END = re.compile(r"""(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\.\.)[.?!]["')`]*(?=\s)|\.{3}(?=\s+[A-Z])""")


def comments_of(text):
    """Yields (line, column, is_beside_code, text) for each line of a comment; the text begins after `//`, `///<` or `/*`."""
    raw_end, block_column = None, None
    for number, line in enumerate(text.split("\n"), 1):
        at = 0
        while at < len(line):
            if raw_end is not None:
                end = line.find(raw_end, at)
                if end < 0:
                    break
                at, raw_end = end + len(raw_end), None
            is_beside_code = False
            if block_column is None:
                token = TOKEN.search(line, at)
                if token is None:
                    break
                is_beside_code = not line[:token.start()].isspace() and token.start() > 0
                at = token.end()
                if token["block"] is not None:
                    block_column = token.start()
            if block_column is not None:
                end = line.find("*/", at)
                text_of_block = line[at:end] if end >= 0 else line[at:]
                if end < 0 or " " in text_of_block.strip():  # not the name of a parameter
                    yield number, block_column, is_beside_code, re.sub(r"^\s*\*+(?=\s)", "", text_of_block)
                if end < 0:
                    break
                at, block_column = end + 2, None
                continue
            if token["delimiter"] is not None:
                raw_end = f"){token['delimiter']}\""
            elif token["comment"] is not None:
                yield number, token.start(), is_beside_code, re.sub(r"^//[/!]?<?", "", token["comment"])


def paragraphs_of(text):
    """Yields paragraphs, each a list of (line, text)."""
    paragraph, last = [], (0, 0)
    for number, column, is_beside_code, comment in comments_of(text):
        stripped = comment.strip()
        is_example = len(comment) - len(comment.lstrip()) > 4
        is_left_out = is_example or not stripped or MARKER.match(stripped)
        is_new = is_left_out or is_beside_code or ITEM.match(stripped) or (number - 1, column) != last
        if paragraph and is_new:
            yield paragraph
            paragraph = []
        if not is_left_out:
            paragraph.append((number, ITEM.sub("", stripped, count=1) if ITEM.match(stripped) else stripped))
        last = (number, column)
    if paragraph:
        yield paragraph


def sentences_of(paragraph):
    """Yields (line, sentence)."""
    text = " ".join(part for _, part in paragraph)
    line_at = [number for number, part in paragraph for _ in range(len(part) + 1)]
    begin = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        sentence = text[begin:end]
        if re.search(r"[A-Za-z]{2}", sentence):
            yield line_at[begin + len(sentence) - len(sentence.lstrip())], sentence.strip()
        begin = end


def files_of(paths):
    """The sources at some paths, each once, in the order of their names."""
    files = {path for given in paths for path in ([given] if given.is_file() else given.rglob("*"))}
    return sorted((path for path in files if path.suffix in SUFFIXES and path.is_file()), key=pathlib.Path.as_posix)


def name_of(path):
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def all_sentences(paths):
    return [{"file": name_of(path), "line": line, "sentence": sentence}
            for path in files_of(paths)
            for paragraph in paragraphs_of(path.read_text(encoding="utf-8"))
            for line, sentence in sentences_of(paragraph)]


def draw(sentences, count, seed):
    """Draws at most `count` sentences, and keeps their order."""
    places = random.Random(seed).sample(range(len(sentences)), min(count, len(sentences)))
    return [sentences[place] for place in sorted(places)]


def read_arguments(argv):
    parser = argparse.ArgumentParser(prog="draw_comments.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", metavar="PATH", nargs="*", type=pathlib.Path, help="files or folders to draw from")
    parser.add_argument("--seed", type=int, default=1, help="what the draw depends on (default: 1)")
    parser.add_argument("--count", type=int, default=300, help="how many sentences to draw (default: 300)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(argv)
    arguments.paths = [path.resolve() for path in arguments.paths] or [ROOT / folder for folder in FOLDERS]
    if arguments.count < 0:
        parser.error("--count is negative")
    for path in arguments.paths:
        if not path.exists():
            parser.error(f"there is no {path}")
    return arguments


def main(argv):
    arguments = read_arguments(argv)
    drawn = draw(all_sentences(arguments.paths), arguments.count, arguments.seed)
    if arguments.json:
        print(json.dumps(drawn, indent=2, ensure_ascii=False))
    else:
        for one in drawn:
            print(f"{one['file']}:{one['line']}: {one['sentence']}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
