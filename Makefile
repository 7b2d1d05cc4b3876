# Every target installs and builds what it needs. CONTRIBUTING.md says when to run which.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip --disable-pip-version-check --quiet
EDITABLE := build/editable/$(notdir $(VENV))
# The share of the drawn examples that the tests try: enough for a change; 1 at night.
export EXACTK_EXAMPLES ?= 0.1
export EXACTK_ORACLE_CASES ?= 1500
# Where a compiler cache is installed, it is used.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER := ccache
endif
# Hundreds of tests start Python, which would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test draws cpp-test lint texts sanitize sanitize-all sanitized oldest scalar portable libcxx aarch64 windows old-glibc other-pythons free-threaded engines browser notebook peers programs fuzz coverage faults oracle mutants bench bench-tests instructions same calibration generate wheel extras

# Prints tables and writes build/demo.html. On MovieLens where EXACTK_DATA names the folder of the real ratings, else on ratings that it draws.
demo: $(VENV)/.built
	$(BIN)/python $(PIP) install scipy jinja2
	$(BIN)/python examples/compare_recommenders.py --report build/demo.html $(wildcard $(EXACTK_DATA)/ml-latest-small/ratings.csv)

# The tier for while you work: lint, and beside it the first case of each test with few examples.
check: $(VENV)/.lint
	$(MAKE) --no-print-directory lint & lint=$$!; \
		EXACTK_EXAMPLES=0.02 EXACTK_ORACLE_CASES=100 $(BIN)/python -m pytest --first-cases -m 'not deadline and not native'; \
		tests=$$?; wait $$lint && exit $$tests

test: $(VENV)/.test cpp-test
	$(BIN)/python -m pytest -n 2 -m 'not deadline'
	$(BIN)/python -m pytest -m deadline $$(grep -l 'mark.deadline' tests/test_*.py)

# The core without Python, as the editable install has compiled it. Without doctest (Debian: doctest-dev) CMake says
# that there are no tests to build; with qemu-x86_64 (Debian: qemu-user) they also run on CPUs without AVX-512 and AVX2.
cpp-test: $(VENV)/.built
	cmake $(EDITABLE) > /dev/null
	cmake --build $(EDITABLE) --parallel 2 --target exactk_tests
	ctest --test-dir $(EDITABLE) --parallel 2 --output-on-failure

# clang-tidy takes the longest; beside it are the checkers of types, which use one core. zizmor and the schemas need
# no network.
lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(find cpp benchmarks -name '*.?pp')
	$(BIN)/zizmor --offline --quiet --strict-collection .github
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff
	{ $(BIN)/python tools/tidy.py && $(MAKE) --no-print-directory texts; } & others=$$!; \
		$(BIN)/mypy && $(BIN)/pyright; types=$$?; wait $$others && exit $$types

# A part of lint. Each program prints every violation with its file and line: of words, layers, pages, metadata and the
# names of tests, and of what `make generate` would write anew.
texts: $(VENV)/.lint
	$(BIN)/python tools/words.py
	$(BIN)/python tools/layers.py
	$(BIN)/python tools/pages.py
	$(BIN)/python tools/metadata.py
	$(BIN)/python tools/faults.py --check
	$(BIN)/python tools/generate.py --check

# The C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer, and over the same build the Python tests that reach
# each binding and each kernel with the widest inputs; sanitize-all for the night runs the others too, and the C++ tests
# under ThreadSanitizer. Tests of deadlines (marker native) are left out, and those that reach what others reach with
# less: each metric by lists is enough, for all read the same rows. Python's own allocations are no leaks of ours. Output
# is not captured, for a sanitizer ends the process that would show it.
SANITIZED := build/sanitize/venv/bin/python
WITH_NINJA = PATH="$(CURDIR)/$(BIN):$$PATH" # of our environment: one of another version would build everything again
RUN_SANITIZED = ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" $(SANITIZED)
SANITIZED_TESTS = $(addprefix tests/,compat/test_pytrec_eval.py $(patsubst %,test_%.py, \
	batches bits candidate_lists concurrency diversity embeddings evaluator extension faults files fuzz group_sums \
	group_tally histories history_metrics hostile_files hostile_producers hostile_states inputs interrupts \
	item_features item_groups item_laws item_tally items judged_lists keyed_faults keyed_matrices memory \
	object_rows oracle paired_sums partitions rank_gaps reference resampling_sums scores short_ways sparse_scores statistics threads ties \
	truth_digest update_digits users_of_shard))
sanitize: sanitized
	$(WITH_NINJA) cmake --build build/sanitize/wheel --parallel 2 --target exactk_tests
	ctest --test-dir build/sanitize/wheel --output-on-failure & core=$$!; \
	EXACTK_EXAMPLES=0.05 EXACTK_ORACLE_CASES=400 $(RUN_SANITIZED) -m pytest -p no:cacheprovider --capture=sys -n 2 -m 'not native' \
		-k 'not ignores_changes_no_value and not every_metric_equals_its_reference' $(SANITIZED_TESTS) && wait $$core

sanitize-all: SANITIZED_TESTS = tests \
	--ignore-glob 'tests/test_cli*.py' --ignore tests/test_containers.py \
	--ignore tests/test_calibration.py --ignore-glob 'tests/test_difference_*.py' --ignore tests/test_demo.py --ignore tests/test_equal_reports.py \
	--ignore tests/test_displays.py --ignore tests/test_figures.py --ignore-glob 'tests/test_html_*.py' \
	--ignore-glob 'tests/test_golden*.py' --ignore tests/test_pages.py \
	--ignore-glob 'tests/test_permutation_*.py' --ignore tests/test_levels.py --ignore tests/test_ranks.py --ignore-glob 'tests/test_resampling_[bfl]*.py' \
	--ignore tests/test_gate.py --ignore tests/test_runs.py --ignore tests/test_tied_systems.py
sanitize-all: sanitize
	cmake --preset tsan
	cmake --build --preset tsan
	ctest --preset tsan

# Of exactk alone: all else it takes from the environment of the tests, by a path behind its own.
SITE_PACKAGES := 'import site; print(site.getsitepackages()[0])'
sanitized: $(VENV)/.test
	$(PYTHON) -m venv --without-pip build/sanitize/venv
	$(BIN)/python -c $(SITE_PACKAGES) > "$$($(SANITIZED) -c $(SITE_PACKAGES))/tests.pth"
	$(WITH_NINJA) $(SANITIZED) $(PIP) install --no-build-isolation --ignore-installed --no-deps . -Cbuild-dir=build/sanitize/wheel \
		-Ccmake.args=--preset=asan -Ccmake.build-type=RelWithDebInfo

# The tests of inputs with the oldest supported NumPy, SciPy, pandas and pyarrow. Everything else, exactk
# included, comes from the environment of the tests, by a path that is searched last.
OLDEST := build/oldest/venv/bin/python
OLDEST_TESTS := $(addprefix tests/test_,containers.py difference_faults.py embeddings.py evaluator.py files.py frame_rows.py inputs.py keyed_faults.py matrices.py \
	report.py scores.py sparse_scores.py)
oldest: $(VENV)/.test
	$(PYTHON) -m venv --without-pip build/oldest/venv
	$(BIN)/python $(PIP) --python $(OLDEST) install --group oldest
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(OLDEST) -c $(SITE_PACKAGES))/tests.pth"
	$(OLDEST) -c 'import numpy; assert numpy.__version__ < "1.26"'
	$(OLDEST) -m pytest -p no:cacheprovider -n 2 -m 'not deadline' $(OLDEST_TESTS)

# The Python tests with the kernels of any CPU.
scalar: $(VENV)/.test
	EXACTK_ISA=scalar $(BIN)/python -m pytest -n 2 -m 'not deadline' tests

# For the night: other compilers, systems and Pythons. Of Debian they need clang-19, libc++-19-dev and libc++abi-19-dev;
# g++-aarch64-linux-gnu and qemu-user; g++-mingw-w64-x86-64-posix and wine.
portable: libcxx aarch64 windows old-glibc other-pythons

# The C++ tests: by clang with its own library, as on macOS; on an emulated ARM CPU; as a Windows program.
libcxx aarch64 windows: $(VENV)/.built
	$(WITH_NINJA) CLANG=$(CLANG) WINEDEBUG=-all cmake --preset $@ -G Ninja
	$(WITH_NINJA) cmake --build --preset $@
	WINEDEBUG=-all ctest --preset $@

# A wheel for Linux of 2014, by zig, whose own library of C++ it contains; the golden states say whether it has the same bits.
ZIG := build/zig/venv/bin
old-glibc: $(VENV)/.test
	$(PYTHON) -m venv build/zig/venv
	$(ZIG)/python $(PIP) install --upgrade 'pip>=25.1'
	$(ZIG)/python $(PIP) install --group build --group zig
	CXX="$(CURDIR)/$(ZIG)/python-zig c++ -target x86_64-linux-gnu.2.17" PATH=$(CURDIR)/$(ZIG):$$PATH \
		$(ZIG)/python $(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/zig . -Cbuild-dir=build/zig/build \
		-Ccmake.define.CMAKE_UNITY_BUILD=ON
	$(ZIG)/auditwheel show build/zig/exactk-*.whl | grep manylinux_2_17
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(ZIG)/python -c $(SITE_PACKAGES))/tests.pth"
	$(ZIG)/python $(PIP) install --force-reinstall --no-deps build/zig/exactk-*.whl
	$(ZIG)/python -m pytest -p no:cacheprovider tests/test_golden_states.py tests/test_bits.py

OTHER_PYTHONS ?= python3.12 python3.13 python3.14
other-pythons:
	for python in $(OTHER_PYTHONS); do \
		if $$python --version; then $(MAKE) test VENV=build/$$python PYTHON=$$python || exit 1; fi; \
	done

# On a build of Python without a GIL: what has to pass before the module may say that it needs none.
FREE_THREADED ?= python3.14t
free-threaded:
	$(FREE_THREADED) -m venv build/free-threaded/venv
	build/free-threaded/venv/bin/python $(PIP) install --upgrade 'pip>=25.1'
	build/free-threaded/venv/bin/python $(PIP) install --group build pytest hypothesis scipy pandas
	PATH="$(CURDIR)/build/free-threaded/venv/bin:$$PATH" build/free-threaded/venv/bin/python $(PIP) install --no-build-isolation \
		--force-reinstall --no-deps . -Cbuild-dir=build/free-threaded/build -Ccmake.define.CMAKE_UNITY_BUILD=ON
	PYTHON_GIL=0 build/free-threaded/venv/bin/python -m pytest -p no:cacheprovider tests/test_free_threading.py tests/test_concurrency.py

# For the night: what a release consists of, made and tried as users get it: two equal sdists, and of one a wheel for Linux, audited and
# repaired, installed into empty environments with the oldest and the newest NumPy, and tested there. WHEEL_PYTHONS are more Pythons.
WHEEL := build/wheel/venv/bin/python
WHEEL_PYTHONS ?=
wheel:
	$(PYTHON) -m venv build/wheel/venv
	$(WHEEL) $(PIP) install --upgrade 'pip>=25.1'
	$(WHEEL) $(PIP) install --group wheel
	$(WHEEL) tools/wheels.py $(WHEEL_PYTHONS)

# For the night: every extra with the oldest libraries that it allows, beside that wheel.
extras: wheel
	$(WHEEL) tools/extras_bounds.py

# For the night: evaluation on Spark, which needs Java 17 or newer, on Dask and Ray, and with torchmetrics, and the
# recorded calls of torchmetrics; with sentence-transformers; training with LightGBM, XGBoost and CatBoost. Their
# packages are large. As above, the rest comes from the environment of the tests.
ENGINES := build/engines/venv/bin/python
engines: $(VENV)/.test
	$(PYTHON) -m venv --without-pip build/engines/venv
	$(BIN)/python $(PIP) --python $(ENGINES) install --group engines
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(ENGINES) -c $(SITE_PACKAGES))/tests.pth"
	$(ENGINES) -m pytest -p no:cacheprovider tests/engines tests/compat docs/how-to/learning_to_rank.md

# For the night: HTML pages in Chromium, which a root user gets from Debian; pictures to look at in build/browser/screens.
BROWSER := build/browser/venv/bin/python
DEBIAN := command -v chromium > /dev/null && command -v pdftotext > /dev/null
browser: $(VENV)/.test
	$(DEBIAN) || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		chromium fonts-noto-core poppler-utils; } || echo "left out: tests of what apt-get could not install"
	$(PYTHON) -m venv --without-pip build/browser/venv
	$(BIN)/python $(PIP) --python $(BROWSER) install --group browser
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(BROWSER) -c $(SITE_PACKAGES))/tests.pth"
	$(BROWSER) -m pytest -p no:cacheprovider tests/browser

# For the night: a notebook in a kernel, written to build/notebook, and the recipes of experiment trackers.
NOTEBOOK := build/notebook/venv/bin/python
notebook: $(VENV)/.test
	$(PYTHON) -m venv --without-pip build/notebook/venv
	$(BIN)/python $(PIP) --python $(NOTEBOOK) install --group notebook
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(NOTEBOOK) -c $(SITE_PACKAGES))/tests.pth"
	PATH="$(CURDIR)/build/notebook/venv/bin:$$PATH" WANDB_MODE=offline WANDB_DIR="$$(mktemp -d)" WANDB_SILENT=true \
		MLFLOW_ALLOW_FILE_STORE=true MLFLOW_TRACKING_URI="$$(mktemp -d)/runs" $(NOTEBOOK) -m pytest -p no:cacheprovider tests/notebooks docs/how-to/trackers.md

# For the night: records tests/golden/ again with the libraries that a registry offers, and compares.
peers: $(VENV)/.test
	$(BIN)/python tools/golden/record.py --check all
	$(BIN)/python tools/golden/list_record.py --check all
	$(BIN)/python tools/golden/compat_record.py --check all

# For the night: MTEB and BEIR with exactk.compat.pytrec_eval in the place of pytrec_eval. Their packages are large.
PROGRAMS := build/programs/venv/bin/python
programs: $(VENV)/.test
	$(PYTHON) -m venv --without-pip build/programs/venv
	$(BIN)/python $(PIP) --python $(PROGRAMS) install --group programs
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(SITE_PACKAGES))')" > "$$($(PROGRAMS) -c $(SITE_PACKAGES))/tests.pth"
	$(PROGRAMS) -m pytest -p no:cacheprovider tests/programs

# Bytes into the extension for so many seconds; FUZZ_SECONDS=36000 for a night. With clang and atheris,
# which bring libFuzzer and the sanitizers, coverage guides it; without, it is the build from above.
# The checks of -fsanitize=undefined are named, for atheris lacks what vptr and function need.
FUZZ_SECONDS ?= 10
CLANG := $(firstword $(foreach version,21 20 19 18 17 16,$(shell command -v clang++-$(version))))
FUZZED := build/fuzz/venv/bin/python
FUZZ_CHECKS := fuzzer-no-link;address;alignment;bool;bounds;builtin;enum;float-cast-overflow;integer-divide-by-zero;nonnull-attribute;null;object-size;pointer-overflow;return;returns-nonnull-attribute;shift;signed-integer-overflow;unreachable;vla-bound
ifneq ($(CLANG),)
fuzz:
	$(PYTHON) -m venv build/fuzz/venv
	$(FUZZED) $(PIP) install --upgrade 'pip>=25.1'
	$(FUZZED) $(PIP) install --group build --group fuzz
	CC=$(subst ++,,$(CLANG)) CXX=$(CLANG) $(FUZZED) $(PIP) install --no-build-isolation --force-reinstall --no-deps . \
		-Cbuild-dir=build/fuzz/wheel -Ccmake.build-type=RelWithDebInfo '-Ccmake.define.EXACTK_SANITIZE=$(FUZZ_CHECKS)'
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($(FUZZED) -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so" \
		$(FUZZED) tests/fuzz.py --seconds $(FUZZ_SECONDS)
	@echo "no finding"
else
fuzz: sanitized
	@echo "without clang++-16 or newer, coverage does not guide the fuzzing"
	$(RUN_SANITIZED) tests/fuzz.py --unguided --seconds $(FUZZ_SECONDS)
endif

# For the night: the laws with other examples than by day, for each seed of SEEDS. Hypothesis writes a patch that adds
# what failed to the test, and says how to apply it.
SEEDS ?= $(shell date +%y%m%d)
draws: $(VENV)/.test
	for seed in $(SEEDS); do \
		echo "again: make draws SEEDS=$$seed EXACTK_EXAMPLES=$(EXACTK_EXAMPLES)"; \
		$(BIN)/python -m pytest -q -n 2 --hypothesis-profile=new --hypothesis-seed=$$seed -m hypothesis tests || failed=1; \
	done; exit $${failed:-0}

# Which lines the tests reach: those of cpp/ by the C++ tests and the Python suite together, those of
# python/ by the suite. Deadlines are left out, for the build is slow.
COVERED := build/coverage/venv/bin
coverage:
	$(PYTHON) -m venv build/coverage/venv
	$(COVERED)/python $(PIP) install --upgrade 'pip>=25.1'
	$(COVERED)/python $(PIP) install --group build --group test --group coverage
	$(COVERED)/python $(PIP) install --no-build-isolation --no-deps --editable . -Cbuild-dir=build/coverage/wheel \
		-Ceditable.rebuild=false -Ccmake.args=--preset=coverage -Ccmake.build-type=Debug
	find build/coverage -name '*.gcda' -delete
	$(COVERED)/coverage erase
	ctest --test-dir build/coverage/wheel --output-on-failure
	EXACTK_EXAMPLES=0.3 $(COVERED)/coverage run -m pytest -p no:cacheprovider -m 'not native'
	$(COVERED)/coverage combine --quiet
	$(COVERED)/coverage report
	$(COVERED)/gcovr --merge-lines --root . --filter 'cpp/(include|src|bindings)/' build/coverage

# Drawn evaluations against the definitions once more, in fractions: ORACLE_CASES=1000000 for a night.
ORACLE_CASES ?= 100000
oracle: $(VENV)/.test
	EXACTK_ORACLE_CASES=$(ORACLE_CASES) $(BIN)/python -m pytest -n 2 tests/test_oracle.py

# For the night: which tests notice a mistake. Each of 150 mutants of the code (tools/mutants.json) and what kills it;
# MUTANTS='--killers FILE' tries first what killed it in an earlier run, whose results are build/mutants/results.json, and
# with --recorded nothing else of the Python tests: a tenth of the time. By default drawn tests of 2.5 s a file are asked.
MUTANTS ?= --share 2.5 --budget 15
mutants: $(VENV)/.lint
	$(BIN)/python tools/mutants.py $(MUTANTS)

# Measures a wheel as users get it, beside other libraries, and writes docs/benchmarks/results; then the pages.
BENCH := build/bench/venv/bin/python
bench: $(VENV)/.lint
	$(PYTHON) -m venv build/bench/venv
	$(BENCH) $(PIP) install --upgrade 'pip>=25.1'
	$(BENCH) $(PIP) install --group build --group bench
	EXACTK_RELEASE=1 $(BENCH) $(PIP) install --no-build-isolation --force-reinstall --no-deps . -Cbuild-dir=build/bench/wheel
	cmake --preset release
	cmake --build --preset release
	$(BENCH) -m benchmarks
	$(BIN)/python tools/generate.py

# For the night: what `make bench` measures and compares is what it says.
bench-tests: $(VENV)/.test
	$(BIN)/python -m pytest -p no:cacheprovider -n 2 $(filter-out benchmarks/test_perf.py,$(wildcard benchmarks/test_*.py))

# Instructions of eleven small workloads of the core, counted by valgrind (Debian: valgrind): of this tree, and of the
# revision BASE, by default the merge base with main. Fails where this tree needs more than 1.02 times as many.
instructions:
	$(PYTHON) -m benchmarks.instructions $(BASE)

# What this tree and the commit BASE say of some 16,000 cases: values in hexadecimal, counts, warnings, errors, files,
# pages. BASE is built once, in build/same. Fails where something differs that tools/same/expected.toml does not expect.
same: $(VENV)/.test
	PYTHONPATH=tools $(BIN)/python -m same $(BASE)

# What can go wrong, what is promised of it, and which tests show that.
faults: $(VENV)/.test
	$(BIN)/python tools/faults.py

# How often tests and intervals err, as a page on them shows: some minutes, after a change of their numbers. At night
# with CALIBRATION=--check, which compares.
calibration: $(VENV)/.test
	$(BIN)/python tools/calibration.py $(CALIBRATION)

# What is generated from the code and committed: the tables of README and docs, the chart, the stubs.
generate: $(VENV)/.lint
	$(BIN)/python tools/generate.py

$(VENV)/.built: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --upgrade 'pip>=25.1'
	$(BIN)/python $(PIP) install --group build
	$(BIN)/python $(PIP) install --no-build-isolation --editable . -Cbuild-dir=$(EDITABLE) \
		-Ccmake.define.EXACTK_WERROR=ON -Ccmake.define.EXACTK_BUILD_TESTS=ON
	touch $@

$(VENV)/.test: $(VENV)/.built
	$(BIN)/python $(PIP) install --group test
	touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python $(PIP) install --group lint
	touch $@
