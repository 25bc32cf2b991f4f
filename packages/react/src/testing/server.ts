import { createClient } from 'byref/client'
import { createServer } from '../app/server.ts'

/** The client of the tests. */
export const client = createClient()

/** The server of the tests, which `renderInApp` provides. */
export const server = createServer(client, { filesUrl: '/' })
