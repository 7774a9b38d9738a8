"""Functions and modules stay short enough to read in one go."""

import ast
import statistics
from pathlib import Path

from tests.arch.sources import PACKAGES, all_python_files, python_files, tree, where

MAX_FUNCTION_LINES = 60
MEDIAN_FUNCTION_LINES = 10
MAX_MODULE_LINES = 800


def function_sizes(source: ast.Module) -> list[tuple[str, int, int]]:
    """Name, first line and number of lines of every function, decorators not counted."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(source) if isinstance(node, kinds)]
    return [(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1) for node in found]


def module_size(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_function_is_longer_than_sixty_lines():
    long = [
        f"{where(path, line)} {name}: {size} lines"
        for path in all_python_files()
        for name, line, size in function_sizes(tree(path))
        if size > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_half_of_the_functions_have_ten_lines_or_fewer():
    sizes = [size for folder in PACKAGES.values() for p in python_files(folder) for _, _, size in function_sizes(tree(p))]
    assert statistics.median(sizes) <= MEDIAN_FUNCTION_LINES


def test_no_module_is_longer_than_eight_hundred_lines():
    long = [f"{where(path)}: {module_size(path)}" for path in all_python_files() if module_size(path) > MAX_MODULE_LINES]
    assert long == []


def test_a_function_is_measured_from_its_head_to_its_last_line():
    source = ast.parse("@decorated\ndef f():\n    x = 1\n\n    return x\n")
    assert function_sizes(source) == [("f", 2, 4)]
