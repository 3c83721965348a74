// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// Table is a list with the columns of kubectl get, in the format of the API server.
type Table struct {
	// APIVersion and Kind of a table.
	APIVersion string `json:"apiVersion" enum:"meta.k8s.io/v1" doc:"Version of the format"`
	Kind       string `json:"kind" enum:"Table" doc:"Kind of the format"`
	// Metadata of the list.
	Metadata TableMeta `json:"metadata" doc:"Metadata of the list"`
	// Columns of the table.
	Columns []TableColumn `json:"columnDefinitions" nullable:"false" doc:"Columns, in order"`
	// Rows of the table.
	Rows []TableRow `json:"rows" nullable:"false" doc:"Rows, one for each object"`
}

// TableMeta is the metadata of a table.
type TableMeta struct {
	// ResourceVersion of the list.
	ResourceVersion string `json:"resourceVersion,omitempty" doc:"Version of the list"`
	// Continue gets the next page.
	Continue string `json:"continue,omitempty" doc:"Token of the next page; left out on the last page"`
	// Remaining number of objects.
	Remaining int64 `json:"remainingItemCount,omitempty" doc:"Number of objects on further pages"`
}

// TableColumn is a column of a table.
type TableColumn struct {
	// Name of the column.
	Name string `json:"name" doc:"Name, as kubectl prints it" example:"Ready"`
	// Type and Format of its cells.
	Type   string `json:"type" doc:"Type of the cells: string, integer, number, boolean or date" example:"string"`
	Format string `json:"format" doc:"Format of the cells; name marks the column with the name"`
	// Description of the column.
	Description string `json:"description" doc:"What the column shows"`
	// Priority is 0 for columns that kubectl always prints.
	Priority int32 `json:"priority" doc:"0 for a column that is always shown; others are for wide output"`
	// Path of what the column shows, for kinds of Windlass.
	Path string `json:"path,omitempty" doc:"JSONPath of what the column shows, in the list of kinds and for columns that show a field" example:".status.phase"`
}

// TableRow is a row of a table.
type TableRow struct {
	// Cells of the row.
	Cells []any `json:"cells" nullable:"false" doc:"One value for each column"`
	// Object that the row is about.
	Object Object `json:"object" doc:"The object of the row: its metadata only"`
}
