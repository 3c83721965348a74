// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
)

// call is a declaration of one file that uses a function or method of another file of the same package.
type call struct {
	from, to       string // names of files
	caller, callee string // names of declarations
}

// calls returns the calls between the files of a package, each pair of caller and callee once, in the order of the source.
func (l loaded) calls() []call {
	own := map[string]bool{}
	for _, name := range l.files {
		own[name] = true
	}
	var found []call
	seen := map[call]bool{}
	for i, file := range l.syntax {
		for _, declaration := range file.Decls {
			caller := declared(declaration)
			ast.Inspect(declaration, func(node ast.Node) bool {
				identifier, ok := node.(*ast.Ident)
				if !ok {
					return true
				}
				function, ok := l.info.Uses[identifier].(*types.Func)
				if !ok {
					return true
				}
				function = function.Origin()
				to := filepath.Base(l.fset.Position(function.Pos()).Filename)
				next := call{from: l.files[i], to: to, caller: caller, callee: named(function)}
				if l.defines(function) && own[to] && to != l.files[i] && !seen[next] {
					seen[next] = true
					found = append(found, next)
				}
				return true
			})
		}
	}
	return found
}

// defines reports whether the package has the body of a function: not if it is imported, or a method of an interface.
func (l loaded) defines(function *types.Func) bool {
	if function.Pkg() == nil || function.Pkg().Path() != l.path {
		return false
	}
	receiver := function.Signature().Recv()
	return receiver == nil || !types.IsInterface(receiver.Type())
}

// declared names a declaration at the top level of a file.
func declared(declaration ast.Decl) string {
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		if declaration.Recv != nil && len(declaration.Recv.List) > 0 {
			return receiver(declaration.Recv.List[0].Type) + "." + declaration.Name.Name
		}
		return declaration.Name.Name
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				return spec.Names[0].Name
			case *ast.TypeSpec:
				return spec.Name.Name
			}
		}
	}
	return "?"
}

// receiver names the type of a receiver, without pointer and type parameters.
func receiver(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression.Name
	case *ast.StarExpr:
		return receiver(expression.X)
	case *ast.IndexExpr:
		return receiver(expression.X)
	case *ast.IndexListExpr:
		return receiver(expression.X)
	}
	return "?"
}

// named names a function as its declaration would be named.
func named(function *types.Func) string {
	declaredOn := function.Signature().Recv()
	if declaredOn == nil {
		return function.Name()
	}
	on := declaredOn.Type()
	if pointer, ok := on.(*types.Pointer); ok {
		on = pointer.Elem()
	}
	if defined, ok := on.(*types.Named); ok {
		return defined.Obj().Name() + "." + function.Name()
	}
	return function.Name()
}
