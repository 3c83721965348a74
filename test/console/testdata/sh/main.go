// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sh stands in for a program and for a shell in images that the visits make. As "sh sing NAME" it prints a line ten times a second
// until it is ended, and else it does what is typed: "echo WORDS", "exit CODE", or "end", which ends the program beside it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "sing" {
		sing(os.Args[2])
		return
	}
	fmt.Print("$ ")
	for typed := bufio.NewScanner(os.Stdin); typed.Scan(); fmt.Print("$ ") {
		do(typed.Text())
	}
}

func sing(name string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	tick := time.NewTicker(100 * time.Millisecond)
	for verse := 1; ; verse++ {
		fmt.Printf("%s sings verse %d\n", name, verse)
		select {
		case <-told:
			fmt.Printf("%s has ended\n", name)
			os.Exit(1)
		case <-tick.C:
		}
	}
}

func do(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "echo":
		fmt.Println(rest)
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	case "end":
		_ = syscall.Kill(1, syscall.SIGTERM)
	default:
		fmt.Printf("sh: %s: not found\n", word)
	}
}
