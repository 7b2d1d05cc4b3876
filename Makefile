# Every target does all it needs by itself: the virtual environment, the build, the run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip --disable-pip-version-check --quiet

.PHONY: demo test cpp-test lint sanitize faults bench generate

demo: $(VENV)/.built
	$(BIN)/metrik demo

test: $(VENV)/.test cpp-test
	$(BIN)/python -m pytest

# The core by itself. Without doctest (Debian: doctest-dev) CMake says that there are no tests to build.
cpp-test:
	cmake -S . -B build/cpp -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMETRIK_BUILD_TESTS=ON -DMETRIK_WERROR=ON \
		-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS
	cmake --build build/cpp --parallel 2
	ctest --test-dir build/cpp --output-on-failure

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $$(find cpp -name '*.?pp')
	$(BIN)/python tests/tidy.py

# The C++ tests under two sanitizers, and the Python suite over a build with the first. Tests of
# deadlines (marker native) are left out of it; Python's own allocations are no leaks of ours.
SANITIZED := build/sanitize/venv/bin/python
sanitize: $(VENV)/.built
	set -e; for build in 'asan address;undefined' 'tsan thread'; do \
		folder="build/sanitize/$${build%% *}"; \
		cmake -S . -B "$$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMETRIK_BUILD_TESTS=ON \
			-DMETRIK_SANITIZE="$${build#* }"; \
		cmake --build "$$folder" --parallel 2; \
		ctest --test-dir "$$folder" --output-on-failure; \
	done
	$(PYTHON) -m venv build/sanitize/venv
	$(SANITIZED) $(PIP) install --upgrade 'pip>=25.1'
	$(SANITIZED) $(PIP) install --group build --group test
	$(SANITIZED) $(PIP) install --no-build-isolation --force-reinstall --no-deps . -Cbuild-dir=build/sanitize/wheel \
		-Ccmake.build-type=RelWithDebInfo '-Ccmake.define.METRIK_SANITIZE=address;undefined'
	METRIK_EXAMPLES=0.1 METRIK_STRESS_SECONDS=10 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
		$(SANITIZED) -m pytest -p no:cacheprovider -m 'not native' tests

# Measures a wheel as users get it, beside other libraries, and writes the README's section on speed.
BENCH := build/bench/venv/bin/python
bench:
	$(PYTHON) -m venv build/bench/venv
	$(BENCH) $(PIP) install --upgrade 'pip>=25.1'
	$(BENCH) $(PIP) install --group build --group bench
	$(BENCH) $(PIP) install --no-build-isolation --force-reinstall --no-deps . -Cbuild-dir=build/bench/wheel
	$(BENCH) -m benchmarks

# What can go wrong, what is promised of it, and which tests show that.
faults: $(VENV)/.test
	$(BIN)/python tests/faults.py

# What is generated from the code and committed: the README's tables and the stubs.
generate: $(VENV)/.lint
	$(BIN)/python tests/generate.py

$(VENV)/.built: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --upgrade 'pip>=25.1'
	$(BIN)/python $(PIP) install --group build
	$(BIN)/python $(PIP) install --no-build-isolation --editable . -Ccmake.define.METRIK_WERROR=ON
	touch $@

$(VENV)/.test: $(VENV)/.built
	$(BIN)/python $(PIP) install --group test
	touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python $(PIP) install --group lint
	touch $@
