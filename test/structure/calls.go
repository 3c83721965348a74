// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
)

// call is a declaration of one file that uses a declaration of another file of the same package.
type call struct {
	from, to       string // names of files
	caller, callee string // names of declarations
}

// calls returns the calls of functions and methods between the files of a package.
func (l loaded) calls() []call {
	return l.between(func(used types.Object) bool {
		_, ok := used.(*types.Func)
		return ok
	})
}

// uses returns the calls between the files of a package, and every other use of what they declare.
func (l loaded) uses() []call {
	return l.between(func(types.Object) bool { return true })
}

// between returns the uses of one file's declarations by another, each pair of declarations once, in the order of the source.
func (l loaded) between(counts func(used types.Object) bool) []call {
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
				used := l.info.Uses[identifier]
				if !l.declares(used) || !counts(used) {
					return true
				}
				to := filepath.Base(l.fset.Position(used.Pos()).Filename)
				next := call{from: l.files[i], to: to, caller: caller, callee: named(used)}
				if own[to] && to != l.files[i] && !seen[next] {
					seen[next] = true
					found = append(found, next)
				}
				return true
			})
		}
	}
	return found
}

// declares reports whether a file of the package declares what is used at its top level: not what is imported, local, a field,
// or a method of an interface.
func (l loaded) declares(used types.Object) bool {
	if used == nil || used.Pkg() == nil || used.Pkg().Path() != l.path {
		return false
	}
	if function, ok := used.(*types.Func); ok {
		receiver := function.Signature().Recv()
		return receiver == nil || !types.IsInterface(receiver.Type())
	}
	return used.Parent() == used.Pkg().Scope()
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

// named names an object as its declaration would be named.
func named(object types.Object) string {
	function, ok := object.(*types.Func)
	if !ok || function.Signature().Recv() == nil {
		return object.Name()
	}
	on := function.Signature().Recv().Type()
	if pointer, ok := on.(*types.Pointer); ok {
		on = pointer.Elem()
	}
	if defined, ok := on.(*types.Named); ok {
		return defined.Obj().Name() + "." + function.Name()
	}
	return function.Name()
}
