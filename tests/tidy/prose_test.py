"""The check of the pages' English: what it must find, and what it must leave alone."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import prose


class Pages:
    """A repository of texts."""

    def __init__(self, **texts):
        self.texts = {name.replace("__", "/") + ".md": text for name, text in texts.items()}
        self.files = sorted(self.texts)

    def text(self, name):
        return self.texts[name]

    def suffixed(self, suffixes):
        return [name for name in self.files if any(name.endswith(suffix) for suffix in suffixes)]


def found(text):
    return [what for _, what in prose.findings(text)]


class Sentences(unittest.TestCase):
    def test_a_sentence_of_26_words_is_too_long_and_one_of_25_is_not(self):
        self.assertEqual(found(" ".join(["word"] * 25) + "."), [])
        self.assertIn("26 words", found(" ".join(["word"] * 26) + ".")[0])

    def test_a_sentence_goes_on_over_lines(self):
        self.assertEqual(len(found("word " * 13 + "\n" + "word " * 13)), 1)

    def test_a_long_sentence_is_found_in_a_list_a_cell_and_a_quotation(self):
        long = "word " * 26
        for text in ("- " + long, "3. " + long, "| a | " + long + "|", "> " + long, "- first\n  " + long):
            self.assertEqual(len(found(text)), 1, text)

    def test_code_is_no_prose(self):
        long = "word " * 26
        self.assertEqual(found(f"```sh\n{long}\n```\n"), [])
        self.assertEqual(found(f"Type:\n\n    {long}\n    {long}\n"), [])
        self.assertEqual(found(f"Type `{long}` now."), [])

    def test_a_list_of_names_counts_as_one_word(self):
        self.assertEqual(found("The functions are " + ", ".join(["`MPI_Send`"] * 40) + "."), [])

    def test_an_aside_and_the_text_behind_a_colon_count_for_themselves(self):
        part = "word " * 14
        self.assertEqual(found(f"{part}({part}) {part[:20]}."), [])
        self.assertEqual(found(f"{part}: {part}"), [])

    def test_openings_without_a_subject(self):
        for text in ("What is sent again is there once.", "Who waits is answered first.", "Of these two one wins.",
                     "The same holds here.", "Whether it runs is unknown.", "It ends. Whoever finds it says so.",
                     "Ranks sleep; who waits is answered first.", "**What is kept** is kept."):
            self.assertEqual(len(found(text)), 1, text)

    def test_questions_headings_and_relative_clauses_are_allowed(self):
        for text in ("What does a death cost?", "# What a job is\n", "Of course it ends.", "A person who reads this knows.",
                     "It says what to do.", "One question: what to do."):
            self.assertEqual(found(text), [], text)

    def test_phrases(self):
        for text in ("Use this in place of that.", "It cannot be\nreached any more.", "It runs not any more.", "All but for one."):
            self.assertEqual(len(found(text)), 1, text)
        self.assertEqual(found("MPI_IN_PLACE reduces in place."), [])

    def test_a_long_row_of_a_table(self):
        self.assertEqual(len(found("| " + "a. B " * 90 + "|")), 1)

    def test_the_line_is_that_of_the_paragraph(self):
        self.assertEqual(next(prose.findings("# A\n\nShort.\n\n" + "word " * 30))[0], 5)


class Comments(unittest.TestCase):
    def lines(self, text):
        return [line for line, _ in prose.findings_of_comments(text)]

    def test_comments_of_all_kinds_are_read_and_code_is_not(self):
        long = "word " * 26
        self.assertEqual(self.lines(f"int word;\n/// {long}\nint a;"), [2])
        self.assertEqual(self.lines(f"int a;  ///< {long}\nint b;  ///< short"), [1])
        self.assertEqual(self.lines(f"/** Short.\n * {long} */\nint a;"), [1])
        self.assertEqual(self.lines("/// " + "word " * 13 + "\n/// " + "word " * 13), [1])
        self.assertEqual(self.lines("/// " + "word " * 13 + "\nint a;\n/// " + "word " * 13), [])
        self.assertEqual(self.lines(f"f({long});"), [])

    def test_only_public_headers_are_read(self):
        texts = {"core/qos/include/a.hpp": "/// What is.", "core/qos/src/a.hpp": "/// What is.", "a.md": "All is well."}
        repository = Pages()
        repository.texts, repository.files = texts, sorted(texts)
        self.assertEqual([name for _, name, _ in prose.find(repository)], ["core/qos/include/a.hpp"])


class Links(unittest.TestCase):
    def broken(self, **texts):
        return [(name, what) for _, name, what in prose.broken_links(Pages(**texts))]

    def test_a_link_to_a_page_a_folder_and_a_heading(self):
        self.assertEqual(self.broken(docs__a="# Top\n[b](sub/b.md#the-b-of-it) [f](sub) [t](#top)", docs__sub__b="## The `b` of it\n[a](../a.md)"), [])

    def test_a_link_that_leads_nowhere(self):
        self.assertEqual(len(self.broken(docs__a="[b](b.md)")), 1)
        self.assertEqual(len(self.broken(docs__a="[b](../../b.md)")), 1)

    def test_a_heading_that_is_not_there(self):
        self.assertEqual(len(self.broken(docs__a="[b](b.md#one)", docs__b="# Two")), 1)

    def test_addresses_and_code_are_left_alone(self):
        self.assertEqual(self.broken(docs__a="[x](https://example.org/x.md)\n```\n[b](b.md)\n```\n`[b](b.md)`"), [])


class Found(unittest.TestCase):
    def test_each_page_has_one_line_with_the_number_of_findings(self):
        results = list(prose.find(Pages(a="What is.\n\nWho is.\n", b="All is well.")))
        self.assertEqual([(check, name) for check, name, _ in results], [("plain", "a.md")])
        self.assertIn("2 findings", results[0][2])


if __name__ == "__main__":
    unittest.main()
