import threading

import numpy as np
import pymupdf
import pytest

from rag.errors import FileError, NotFound
from rag.highlight import MAX_PIXELS, excerpt, paragraph_number, rects, render
from rag.types import Word


def pixels(png):
    image = pymupdf.Pixmap(png)
    return np.frombuffer(image.samples, dtype=np.uint8).reshape(image.h, image.w, image.n)


def yellow(image):
    """Marked pixels: red and green high, blue low."""
    channels = image.astype(int)
    return (channels[..., 0] > 150) & (channels[..., 1] > 120) & (channels[..., 2] < 130)


def words_of(page):
    """Words with offsets into their text joined by spaces, in displayed coordinates."""
    words, offset = [], 0
    for x0, y0, x1, y1, text, *_ in page.get_text("words"):
        box = pymupdf.Rect(x0, y0, x1, y1) * page.rotation_matrix
        words.append(Word(offset, offset + len(text), box.x0, box.y0, box.x1, box.y1))
        offset += len(text) + 1
    return words


@pytest.fixture
def pdf(tmp_path):
    def make(*, rotation=0, size=(300, 200), dark=False, **save):
        document = pymupdf.open()
        page = document.new_page(width=size[0], height=size[1])
        if dark:
            page.draw_rect(page.rect, fill=(0, 0, 0.2))
        color = (1, 1, 1) if dark else (0, 0, 0)
        page.insert_text((30, 60), "Alpha beta gamma", fontsize=14, color=color)
        page.insert_text((30, 120), "Delta epsilon", fontsize=14, color=color)
        page.set_rotation(rotation)
        words = words_of(page)
        path = tmp_path / "stored-without-extension"
        document.save(path, **save)
        document.close()
        return path, words

    return make


def test_the_cited_words_are_marked_and_nothing_else(pdf):
    path, words = pdf()
    image = pixels(render(path, 1, words, 6, 16))
    assert image.shape == (400, 600, 3)
    rows, columns = np.nonzero(yellow(image))
    beta, gamma = words[1], words[2]
    assert abs(rows.min() / 2 - beta.y0) < 2
    assert abs(rows.max() / 2 - beta.y1) < 2
    assert abs(columns.min() / 2 - beta.x0) < 2
    assert abs(columns.max() / 2 - gamma.x1) < 2


def test_marked_text_stays_readable(pdf):
    path, words = pdf()
    image = pixels(render(path, 1, words, 0, 5))
    alpha = words[0]
    area = image[int(alpha.y0 * 2) : int(alpha.y1 * 2), int(alpha.x0 * 2) : int(alpha.x1 * 2)]
    assert area.sum(axis=2).min() < 60, "the letters are still black"


def test_light_text_on_a_dark_page_is_marked_visibly(pdf):
    path, words = pdf(dark=True)
    plain = pixels(render(path, 1, words, 0, 0)).astype(int)
    image = pixels(render(path, 1, words, 0, 5)).astype(int)
    alpha = words[0]
    ground = int(alpha.y0 * 2) + 2, int(alpha.x0 * 2)
    assert image[ground][0] - plain[ground][0] > 80


@pytest.mark.parametrize("span", [(0, 0), (5, 5), (9, 3), (400, 500)])
def test_an_empty_span_marks_nothing(pdf, span):
    path, words = pdf()
    assert not yellow(pixels(render(path, 1, words, *span))).any()


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rotated_pages_are_marked_where_they_are_displayed(pdf, rotation):
    path, words = pdf(rotation=rotation)
    image = pixels(render(path, 1, words, 17, 30))
    assert image.shape[:2] == ((600, 400) if rotation != 180 else (400, 600))
    rows, columns = np.nonzero(yellow(image))
    delta, epsilon = words[3], words[4]
    assert abs(rows.min() / 2 - min(delta.y0, epsilon.y0)) < 2
    assert abs(rows.max() / 2 - max(delta.y1, epsilon.y1)) < 2
    assert abs(columns.min() / 2 - min(delta.x0, epsilon.x0)) < 2
    assert abs(columns.max() / 2 - max(delta.x1, epsilon.x1)) < 2


def test_a_huge_page_is_drawn_smaller(pdf):
    path, words = pdf(size=(8000, 6000))
    height, width, _ = pixels(render(path, 1, words, 0, 5)).shape
    assert 0.9 * MAX_PIXELS < height * width < 1.01 * MAX_PIXELS


def test_a_page_that_does_not_exist_is_named(pdf):
    path, words = pdf()
    with pytest.raises(NotFound, match="1 pages, none is 2"):
        render(path, 2, words, 0, 5)


def test_a_locked_file_needs_its_password(pdf):
    path, words = pdf(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own")
    with pytest.raises(FileError, match="password"):
        render(path, 1, words, 0, 5)
    assert yellow(pixels(render(path, 1, words, 0, 5, password="open"))).any()


def test_a_file_that_is_no_pdf_is_an_error_of_ours(tmp_path):
    path = tmp_path / "broken"
    path.write_bytes(b"not a PDF at all")
    with pytest.raises(FileError, match="broken"):
        render(path, 1, (), 0, 0)


def test_threads_may_draw_at_the_same_time(pdf):
    path, words = pdf()
    expected, drawn = render(path, 1, words, 0, 5), []
    threads = [
        threading.Thread(target=lambda: drawn.append(render(path, 1, words, 0, 5)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawn == [expected] * 4


def line(*words, y=10.0):
    return [Word(start, end, x0, y, x1, y + 10) for start, end, x0, x1 in words]


def test_neighbours_on_a_line_become_one_bar():
    words = line((0, 2, 0, 20), (3, 5, 23, 40), (6, 9, 44, 60))
    assert rects(words, 0, 9) == [(0, 10, 60, 20)]
    assert rects(words, 3, 9) == [(23, 10, 60, 20)]


def test_lines_and_columns_stay_apart():
    words = line((0, 2, 0, 20), (3, 5, 120, 140)) + line((6, 9, 0, 30), y=30)
    assert rects(words, 0, 9) == [(0, 10, 20, 20), (120, 10, 140, 20), (0, 30, 30, 40)]


def test_right_to_left_neighbours_are_joined():
    assert rects(line((0, 2, 50, 70), (3, 5, 20, 47)), 0, 5) == [(20, 10, 70, 20)]


def test_the_two_parts_of_a_word_split_over_lines_are_both_marked():
    words = [Word(0, 6, 100, 10, 130, 20), Word(0, 6, 0, 30, 20, 40)]
    assert rects(words, 2, 4) == [(100, 10, 130, 20), (0, 30, 20, 40)]


def test_a_line_without_spaces_is_marked_in_part():
    assert rects(line((0, 40, 0, 400)), 10, 20) == [(100, 10, 200, 20)]


def test_an_excerpt_is_cut_at_word_borders():
    text = "zero one two three FOUR five six seven eight"
    start = text.index("FOUR")
    assert excerpt(text, start, start + 4, around=11) == ("two three ", "FOUR", " five six")
    assert "".join(excerpt(text, start, start + 4)) == text


def test_an_excerpt_of_text_without_spaces_is_cut_anywhere():
    assert excerpt("日本語の文章です", 3, 5, around=2) == ("本語", "の文", "章で")


def test_paragraphs_are_counted_from_one():
    text = "\nFirst\nline.\n\nSecond.\n \n\nThird."
    numbers = [paragraph_number(text, text.index(word)) for word in ("First", "line", "Sec", "Thi")]
    assert numbers == [1, 1, 2, 3]
