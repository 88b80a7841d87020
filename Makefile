# Every target only calls tools/dev.py, which works without make too. GNU make 3.81 is enough.
.DEFAULT_GOAL := help
.PHONY: help demo test lint types contracts docs bench coverage laws stats fuzz attacks transparency format lock clean

help demo test lint types contracts docs bench coverage laws stats fuzz attacks transparency format lock clean:
	@python3 tools/dev.py $@
