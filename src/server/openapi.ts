import { z } from 'zod'
import { type ByrefErrorCode, HTTP_STATUS } from '../core/errors.ts'
import { version } from '../version.ts'
import { errorAnswer } from '../wire/common.ts'
import type { Answer, Route } from './route.ts'

type Json = Record<string, unknown>

/** Returns the codes that a route may answer with. */
function codesOf({ path, role, body, errors = [] }: Route): ByrefErrorCode[] {
  const codes: ByrefErrorCode[] = ['forbidden', 'bad_request', 'shutting_down', ...errors]
  if (path.startsWith('/api/conversations/:id')) codes.push('conversation_not_found')
  if (path.startsWith('/api/assets/:id')) codes.push('asset_not_found', 'invalid_reference')
  if (role !== null) codes.push('unauthorized', 'rate_limited', 'unreachable')
  if (body) codes.push('body_too_large', 'too_deep')
  return [...new Set(codes)]
}

/** Makes the OpenAPI 3.1 document (spec.openapis.org/oas/v3.1) of routes, from the schemas that check their requests. */
export function openApiDocument(routes: readonly Route[]): Json {
  const components: Json = {}
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') =>
    jsonSchemaOf(schema, io, components)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operation(route, schemaOf) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'byref',
      version,
      description:
        'Conversations, runs, data and assets of agents. See docs/reference/http-api.md.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }, {}],
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'byref' },
      },
      schemas: components,
    },
    paths,
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json

function operation(route: Route, schemaOf: SchemaOf): Json {
  const { summary, path, method, body, takes, role, query } = route
  const made: Json = {
    operationId: operationId(method, path),
    tags: [path.split('/')[2] ?? 'server'],
    summary,
    'x-role': role,
    parameters: [...pathParameters(path), ...queryParameters(query, schemaOf)],
    responses: { ...answers(route, schemaOf), ...failures(route, schemaOf) },
  }
  if (role === null) made.security = []
  else made.description = `Needs the role ${role}.`
  if (body) {
    const content = { 'application/json': { schema: schemaOf(body, 'input') } }
    made.requestBody = { required: !body.safeParse({}).success, content }
  }
  if (takes) {
    const content = Object.fromEntries(takes.map((type) => [type, { schema: {} }]))
    made.requestBody = { required: true, content }
  }
  return made
}

/** `getConversationsIdEvents` for `GET /api/conversations/:id/events`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^a-zA-Z]+/).filter((word) => word !== '' && word !== 'api')
  return method + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } }
  })
}

function queryParameters(query: z.ZodType | undefined, schemaOf: SchemaOf): Json[] {
  if (!query) return []
  const { properties = {}, required = [] } = Object(schemaOf(query, 'input'))
  return Object.entries(properties).map(([name, schema]) => {
    return { name, in: 'query', required: required.includes(name), schema }
  })
}

function answers({ answers }: Route, schemaOf: SchemaOf): Json {
  const entries = Object.entries(answers).map(([status, answer]) => {
    const content = contentOf(answer, schemaOf)
    return [status, { description: 'OK', ...(content && { content }) }]
  })
  return Object.fromEntries(entries)
}

function contentOf(answer: Answer, schemaOf: SchemaOf): Json | null {
  if (answer === null) return null
  if ('types' in answer) return Object.fromEntries(answer.types.map((type) => [type, {}]))
  return { 'application/json': { schema: schemaOf(answer, 'output') } }
}

function failures(route: Route, schemaOf: SchemaOf): Json {
  const byStatus = new Map<number, ByrefErrorCode[]>([[500, []]])
  for (const code of codesOf(route)) {
    byStatus.set(HTTP_STATUS[code], [...(byStatus.get(HTTP_STATUS[code]) ?? []), code])
  }
  const content = { 'application/json': { schema: schemaOf(errorAnswer, 'output') } }
  const entries = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\``).join(', ') || '`internal`'
    return [status, { description, content }]
  })
  return Object.fromEntries(entries)
}

/** Returns a schema as JSON Schema 2020-12, as OpenAPI 3.1 uses it. Schemas with an id become components. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $schema, $defs, ...made } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  })
  const moved = JSON.parse(
    JSON.stringify({ $defs, made }).replaceAll('"#/$defs/', '"#/components/schemas/'),
  )
  Object.assign(components, moved.$defs)
  return moved.made
}
