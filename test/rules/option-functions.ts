import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Checker,
  type Project,
  SignatureKind,
  SymbolFlags,
  type Type,
  TypeFlags,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync'
import { withProject } from './fixtures/with-project.ts'

/** A function or method that users call with options. */
export interface OptionFunction {
  /** `createAgent`, or `Agent.fork` with the name of the type. */
  name: string
  /** The index of the options parameter, from 0. */
  at: number
  /** The name of their type. */
  type: string
  /** Every option, with those of nested options: `['limits', 'steps']`; `[]` is an item of a list, `{}` an entry of a record. */
  paths: readonly string[][]
}

/**
 * Returns every public function with a parameter that is an object, from the types of the entries in package.json:
 * exported functions, and the methods of everything that these return.
 *
 * @param isNested Whether properties of this type are options too, instead of values such as a log.
 */
export function optionFunctions(
  root: string,
  isNested: (type: string) => boolean,
): OptionFunction[] {
  return withProject(`${root}/tsconfig.json`, (project) => functionsOf(root, project, isNested))
}

function functionsOf(
  root: string,
  { checker, program }: Project,
  isNested: (type: string) => boolean,
): OptionFunction[] {
  const found = new Map<string, OptionFunction>()
  const seen = new Set<string>()
  const isOurs = (symbol: TypeSymbol | undefined): boolean =>
    symbol?.declarations.some(({ path }) => path.startsWith(`${root}/src/`)) === true

  function visitFunction(name: string, type: Type): void {
    const kinds = [SignatureKind.Call, SignatureKind.Construct]
    for (const signature of kinds.flatMap((kind) => checker.getSignaturesOfType(type, kind))) {
      for (const [at, parameter] of signature.getParameters().entries()) {
        const given = checker.getTypeOfSymbol(parameter)
        const objects = membersOf(given).filter((one) => isObject(checker, one))
        const own = objects.filter(
          (one) => isAnonymous(one) || isOurs(one.getSymbol()) || one.isIntersectionType(),
        )
        for (const one of own) {
          const key = `${name}[${at}]`
          const paths = [...(found.get(key)?.paths ?? []), ...pathsIn(one, [])]
          found.set(key, { name, at, type: nameOf(one), paths })
        }
      }
      const result = checker.getReturnTypeOfSignature(signature)
      if (result) visitObject(result)
    }
  }

  /** Returns the result of a function, or the value of a property. Its methods are public, too. */
  function visitObject(type: Type): void {
    for (const one of membersOf(type)) {
      const name = nameOf(one)
      if (one.isTypeReference() && /^(Promise|AsyncIterable|AsyncGenerator)$/.test(name)) {
        checker.getTypeArguments(one).forEach(visitObject)
      }
      if (seen.has(name) || !isObject(checker, one) || !isOurs(one.getSymbol())) continue
      seen.add(name)
      for (const property of checker.getPropertiesOfType(one)) {
        // The names of `#private` members begin with `__#`.
        if (property.name.startsWith('__#')) continue
        const value = checker.getTypeOfSymbol(property)
        for (const member of membersOf(value)) {
          visitFunction(`${name}.${property.name}`, member)
          visitObject(member)
        }
      }
    }
  }

  function pathsIn(type: Type, around: readonly string[]): string[][] {
    return checker.getPropertiesOfType(type).flatMap((property) => {
      const path = [...around, property.name]
      const value = checker.getTypeOfSymbol(property)
      return [path, ...membersOf(value).flatMap((one) => nestedIn(one, path))]
    })
  }

  function nestedIn(type: Type, path: readonly string[]): string[][] {
    // Trees of labels are infinite.
    if (path.length > 6) return []
    if (checker.isArrayLikeType(type) && type.isTypeReference()) {
      const items = checker.getTypeArguments(type).flatMap(membersOf)
      return items.flatMap((one) => nestedIn(one, [...path, '[]']))
    }
    const entries = checker.getIndexInfosOfType(type).map(({ valueType }) => valueType)
    if (entries.length > 0) {
      return entries.flatMap(membersOf).flatMap((one) => nestedIn(one, [...path, '{}']))
    }
    const isOptions = isObject(checker, type) && isNested(nameOf(type))
    return isOptions && (isOurs(type.getSymbol()) || isAnonymous(type)) ? pathsIn(type, path) : []
  }

  function membersOf(type: Type | undefined): readonly Type[] {
    if (!type) return []
    return type.isUnionType() ? (type.getTypes() ?? []) : [type]
  }

  function nameOf(type: Type): string {
    const name = type.getAliasSymbol()?.name ?? type.getSymbol()?.name ?? ''
    return /^(__type|__object)?$/.test(name) ? checker.typeToString(type) : name
  }

  const { exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
  const owners = new Map<string, TypeSymbol>()
  for (const [path, entry] of Object.entries<Record<string, string> | string>(exports)) {
    if (typeof entry === 'string') continue
    const file = program.getSourceFile(resolve(root, entry['byref-source'] ?? ''))
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`The entry ${entry['byref-source']} has no symbols`)
    for (const exported of checker.getExportsOfModule(module)) {
      const isAlias = (exported.flags & SymbolFlags.Alias) !== 0
      const target = isAlias ? checker.getAliasedSymbol(exported) : exported
      const type = checker.getTypeOfSymbol(target)
      const owner = owners.get(exported.name) ?? target
      owners.set(exported.name, owner)
      // The main functions of integrations have the same name.
      const name = owner === target ? exported.name : `${exported.name} of ${path}`
      if (target.flags & SymbolFlags.Value && type) visitFunction(name, type)
    }
  }
  return [...found.values()]
}

function isAnonymous(type: Type): boolean {
  return type.getSymbol()?.name === '__type' || type.getSymbol()?.name === '__object'
}

/** Whether values of the type are objects with properties, not functions or lists. */
function isObject(checker: Checker, type: Type): boolean {
  if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return false
  if (checker.isArrayLikeType(type)) return false
  if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return false
  return checker.getPropertiesOfType(type).length > 0
}
