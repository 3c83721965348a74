// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"io"
	"strings"
)

// drawSurvey draws the counts and the rows. Height bounds the rows, 0 for no bound.
func (p *plugin) drawSurvey(out io.Writer, sum *survey, all, wide bool, height int) error {
	look := p.style()
	counts := make([]string, 0, len(sum.Kinds))
	for _, count := range sum.Kinds {
		how := moodGood
		if count.Ready < count.All {
			how = moodBusy
		}
		counts = append(counts, string(look.paint(how, fmt.Sprintf("%d/%d", count.Ready, count.All)))+" "+count.of.plural)
	}
	if len(counts) > 0 {
		say(out, "Ready: %s\n", painted(strings.Join(counts, ", ")))
	} else {
		say(out, "There is nothing to show.\n")
	}
	if err := p.drawRows(out, sum, all, wide, height); err != nil {
		return err
	}
	if len(sum.Unseen) > 0 {
		say(out, "\nNot seen: %s.\n", oneLine(strings.Join(sum.Unseen, "; ")))
	}
	return nil
}

// drawRows draws the objects. Nodes that are ready are only counted: there are thousands of them.
func (p *plugin) drawRows(out io.Writer, sum *survey, all, wide bool, height int) error {
	rows := &table{columns: []column{
		{title: "  OBJECT"},
		{title: "NAMESPACE", wide: !sum.namespaced(), spare: 3},
		{title: "STATE"},
		{title: "SINCE", spare: 1},
		{title: "WHY", flexible: true, spare: 2},
	}}
	look, hidden := p.style(), 0
	for _, each := range sum.Objects {
		if each.how == moodGood && each.of.plural == nodesPlural && !all {
			continue
		}
		if height > 0 && len(rows.rows) >= height {
			hidden++
			continue
		}
		message := ""
		if each.how != moodGood || wide {
			message = each.Message
		}
		rows.add(cell{text: each.ref(), mark: each.how}, cell{text: each.Namespace}, cell{text: each.State, how: each.how},
			cell{text: age(each.Since, p.Now())}, cell{text: message})
	}
	if len(rows.rows) == 0 {
		return nil
	}
	say(out, "\n")
	if err := rows.write(out, look, p.width(), wide); err != nil {
		return err
	}
	if hidden > 0 {
		say(out, "… and %d more\n", hidden)
	}
	return nil
}

func (s *survey) namespaced() bool {
	for _, each := range s.Objects {
		if each.Namespace != "" {
			return true
		}
	}
	return false
}
