import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** A node of the syntax tree. Which keys it has depends on its type. */
// biome-ignore lint/suspicious/noExplicitAny: the tree has no types here, and a wrong step fails the test.
type Node = any

const FILES = ['src/core/events/events.ts', 'src/core/messages/message.ts']

/**
 * Returns the fields of each event, and of each interface beside them, from their types: `runId`, `agent?`. The key
 * is the type of the event or the name of the interface.
 */
export function eventFields(root: string): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>()
  const declarations = FILES.flatMap((file) => declarationsIn(root, file))
  for (const { type, id, body } of declarations) {
    if (type === 'TSInterfaceDeclaration') found.set(id.name, fieldsOf(body.body))
  }
  for (const event of typeNamed(declarations, 'ConversationEvent').types) {
    const parts = (event.typeAnnotation ?? event).types ?? [event]
    const [own] = parts
    const fields = parts.flatMap((part: Node) =>
      part.members ? fieldsOf(part.members) : found.get(part.typeName.name),
    )
    const named = own.members.find(({ key }: Node) => key.name === 'type')
    const name = named.typeAnnotation.typeAnnotation.literal.value
    found.set(name, fields.filter((field: string) => field !== 'type').sort())
  }
  return found
}

/** Returns the possible values of choices in events, such as the reasons of a run's end. */
export function wordsOf(root: string, ...types: string[]): string[] {
  const declarations = declarationsIn(root, FILES[0] as string)
  return types.flatMap((name) =>
    typeNamed(declarations, name).types.map(({ literal }: Node) => literal.value),
  )
}

function declarationsIn(root: string, file: string): Node[] {
  const { body } = parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' })
  return body.map((node: Node) => node.declaration).filter((node: Node) => node?.id)
}

function typeNamed(declarations: Node[], name: string): Node {
  return declarations.find(({ id }) => id.name === name).typeAnnotation
}

function fieldsOf(members: Node[]): string[] {
  return members
    .filter(({ type }) => type === 'TSPropertySignature')
    .map(({ key, optional }) => `${key.name}${optional ? '?' : ''}`)
    .sort()
}
