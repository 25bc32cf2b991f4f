import { z } from 'zod'
import { assetAnswer, condition, queryBody, rowsPage, rowsQuery } from '../../wire/assets.ts'
import { publicInfo } from '../public-info.ts'
import { parse } from '../request-body.ts'
import { RequestError } from '../request-error.ts'
import { type Route, route } from '../route.ts'
import { needsNoReaders, refOf } from './assets.ts'
import { chosenRows } from './chosen-rows.ts'

const columnNames = z.array(z.string()).max(10_000)
const conditions = z.array(condition).max(20)

/** Tables: rows by pages, and SQL. */
export function tableRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/api/assets/:id/rows',
        summary: "A page of a table's rows, of some columns, sorted and filtered",
        role: 'reader',
        query: rowsQuery,
        answers: { 200: rowsPage },
        errors: [
          'asset_not_found',
          'invalid_reference',
          'invalid_arguments',
          'asset_too_large',
          'forbidden',
        ],
      },
      async (call) => {
        const { offset, limit, columns, sort, where } = call.query
        const { assets, log } = call.agent()
        await call.reader?.needAsset(log, refOf(call))
        const rows = await assets.rows(refOf(call), { signal: call.c.req.raw.signal })
        const page = await chosenRows(rows, {
          ...{ offset, limit, sort },
          columns: columns === undefined ? undefined : listed('columns', columns, columnNames),
          where: where === undefined ? [] : listed('where', where, conditions),
        })
        return call.json(page, 200, { 'cache-control': 'private, max-age=31536000, immutable' })
      },
    ),
    route(
      {
        method: 'post',
        path: '/api/query',
        summary: 'Ask tables by SQL; the result is a table',
        role: 'member',
        body: queryBody,
        answers: { 201: assetAnswer },
        errors: [
          'asset_not_found',
          'invalid_reference',
          'invalid_arguments',
          'result_too_large',
          'tool_timeout',
          'dependency_missing',
          'quota_exceeded',
          'storage_full',
          'forbidden',
        ],
      },
      async ({ c, body, reader, agent, json }) => {
        const { name, ...query } = body
        await needsNoReaders(reader, agent().log, query)
        const { signal } = c.req.raw
        const info = await agent().assets.query(query, { by: 'user', name, signal })
        return json({ asset: publicInfo(info) }, 201)
      },
    ),
  ]
}

/** A list of JSON in a query. Throws `bad_request`. */
function listed<T>(name: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RequestError('The query of the request is not as it must be', [
      { path: name, message: 'must be a list in JSON' },
    ])
  }
  return parse(schema, value, 'query')
}
