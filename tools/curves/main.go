// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command curves draws how Windlass grows, from the results of the scenarios of growth of test/bench:
//
//	go -C tools/curves run . FOLDER    draws each growth-*.json of the folder as SVGs beside it
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// results are those of a run, as far as they are curves.
type results struct {
	Sections []struct {
		Curves []curve `json:"curves"`
	} `json:"scenarios"`
}

// curve is one of test/bench.
type curve struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Over     string  `json:"over"`
	Exponent float64 `json:"exponent"`
	Points   []struct {
		Size   int       `json:"size"`
		Values []float64 `json:"values"`
	} `json:"points"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "curves: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("give the folder of the results")
	}
	folder, err := os.OpenRoot(args[0])
	if err != nil {
		return fmt.Errorf("cannot open the folder of the results: %w", err)
	}
	defer func() { _ = folder.Close() }()
	files, err := fs.Glob(folder.FS(), "growth-*.json")
	if err != nil {
		return fmt.Errorf("cannot look for results: %w", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no growth-*.json: make bench-report writes them", args[0])
	}
	for _, file := range files {
		pictures, err := pictures(folder, file)
		if err != nil {
			return err
		}
		for name, picture := range pictures {
			if err := folder.WriteFile(name, picture, 0o644); err != nil {
				return fmt.Errorf("cannot write a picture: %w", err)
			}
		}
	}
	return nil
}

// pictures draws the curves of a file, a picture for each unit, by the name that it is to have.
func pictures(folder *os.Root, file string) (map[string][]byte, error) {
	raw, err := folder.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w", err)
	}
	var read results
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, fmt.Errorf("cannot read %s as results of a run: %w", file, err)
	}
	out := map[string][]byte{}
	for _, section := range read.Sections {
		for unit, curves := range byUnit(section.Curves) {
			picture, err := drawCurves(curves)
			if err != nil {
				return nil, fmt.Errorf("cannot draw %s: %w", file, err)
			}
			out[strings.TrimSuffix(file, ".json")+"-"+slug(unit)+".svg"] = picture
		}
	}
	return out, nil
}

// byUnit returns the curves that can share an axis.
func byUnit(curves []curve) map[string][]curve {
	out := map[string][]curve{}
	for _, c := range curves {
		out[c.Unit] = append(out[c.Unit], c)
	}
	return out
}

func slug(unit string) string {
	if unit == "s" {
		return "seconds"
	}
	return strings.ToLower(unit)
}
