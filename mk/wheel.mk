# The C library for Python programs: a wheel, python/capstan with the shared libraries. It is packed, not uploaded.

.PHONY: wheel
wheel: lib ## A wheel for Python programs: build/wheel/capstan_openmp-….whl.
	@tools/make-wheel
