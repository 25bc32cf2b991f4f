import {
  acceptedContent,
  completable,
  type InputRequests,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { McpConnection } from 'byref/mcp'
import { z } from 'zod'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=='

type Call = (input: Record<string, string>, context: ServerContext) => unknown

const text = (words: string) => ({ type: 'text' as const, text: words })
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})
const user = (content: unknown) => ({ role: 'user', content })

/** A server with everything that the test suite of the Model Context Protocol requires. */
export function addEverything(server: McpServer, { mintState }: McpConnection): void {
  server.server.registerCapabilities({ logging: {} })
  const tool = (name: string, call: Call, fields: z.ZodRawShape = {}) =>
    server.registerTool(name, { description: name, inputSchema: z.object(fields) }, call as never)
  const says = (name: string, ...content: unknown[]) => tool(name, () => ({ content }))
  says('test_simple_text', text('This is a simple text response for testing.'))
  says('test_image_content', image)
  says('test_audio_content', { type: 'audio', data: WAV, mimeType: 'audio/wav' })
  says(
    'test_embedded_resource',
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  )
  says(
    'test_multiple_content_types',
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  )
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  tool('test_tool_with_progress', async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return { content: [text('Done')] }
  })
  tool('test_tool_with_logging', async (_, { mcpReq }) => {
    for (const step of ['execution started', 'processing data', 'execution completed']) {
      await mcpReq.log('info', `Tool ${step}`)
    }
    return { content: [text('Done')] }
  })
  addRounds(server, tool, mintState)
  addResources(server)
  addPrompts(server)
}

const nameSchema = z.object({ name: z.string() })
const asked = (message: string, requestedSchema: z.ZodObject) =>
  inputRequired.elicit({ message, requestedSchema })
const sampled = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens })

/** Tools that ask questions during a call (SEP-2322). */
function addRounds(
  server: McpServer,
  tool: (name: string, call: Call) => unknown,
  mint: McpConnection['mintState'],
): void {
  const named = (name: string) => `test_input_required_result_${name}`
  const done = (words: string) => ({ content: [text(words)] })
  const need = async (inputRequests: InputRequests, state?: string, context?: ServerContext) =>
    inputRequired({ inputRequests, ...(state ? { requestState: await mint(state, context) } : {}) })
  const askName = asked('What is your name?', nameSchema)
  tool(named('elicitation'), (_, { mcpReq }) => {
    const found = acceptedContent(mcpReq.inputResponses, 'user_name', nameSchema)
    return found ? done(`Hello, ${found.name}!`) : need({ user_name: askName })
  })
  const simple = (name: string, key: string, request: InputRequests[string], state?: string) =>
    tool(named(name), (_, context) => {
      const found = context.mcpReq.inputResponses?.[key]
      if (found === undefined) return need({ [key]: request }, state, context)
      const isSame = context.mcpReq.requestState() === state
      return done(`${isSame ? 'state-ok ' : ''}${JSON.stringify(found)}`)
    })
  const confirm = asked('Please confirm', z.object({ ok: z.boolean() }))
  simple('sampling', 'capital_question', sampled('What is the capital of France?', 100))
  simple('list_roots', 'client_roots', inputRequired.listRoots())
  simple('request_state', 'confirm', confirm, 'one')
  simple('tampered_state', 'confirm', confirm, 'two')
  tool(named('multiple_inputs'), (_, context) => {
    const { inputResponses } = context.mcpReq
    if (inputResponses) return done(JSON.stringify(inputResponses))
    const greeting = sampled('Generate a greeting', 50)
    const all = { user_name: askName, greeting, client_roots: inputRequired.listRoots() }
    return need(all, 'many', context)
  })
  tool(named('multi_round'), (_, context) => {
    const state = context.mcpReq.requestState()
    if (state === 'second') return done('Both')
    if (state === 'first') {
      const step2 = asked('Step 2: What is your favorite color?', z.object({ color: z.string() }))
      return need({ step2 }, 'second', context)
    }
    return need({ step1: asked('Step 1: What is your name?', nameSchema) }, 'first', context)
  })
  tool(named('capabilities'), (_, { mcpReq }) => {
    const said = Object(mcpReq.envelope)['io.modelcontextprotocol/clientCapabilities'] ?? {}
    const all = {
      ...(said.elicitation ? { user_name: askName } : {}),
      ...(said.sampling ? { greeting: sampled('Generate a greeting', 50) } : {}),
    }
    return mcpReq.inputResponses || Object.keys(all).length === 0 ? done('Done') : need(all)
  })
  tool('test_missing_capability', () => need({ greeting: sampled('Generate a greeting', 50) }))
  tool('test_streaming_elicitation', async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 'none'
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: 1 },
    })
    return mcpReq.inputResponses ? done('Done') : need({ user_name: askName })
  })
  tool('test_logging_tool', async (_, { mcpReq }) => {
    await mcpReq.log('info', 'logged')
    return done('Done')
  })
  const context = z.object({ context: z.string() })
  const prompt = async ({ mcpReq }: ServerContext) => {
    const found = acceptedContent(mcpReq.inputResponses, 'user_context', context)
    if (found) return { messages: [user(text(found.context))] } as never
    return need({ user_context: asked('What context should the prompt use?', context) })
  }
  server.registerPrompt(named('prompt'), { description: 'Asks first' }, prompt)
}

function addResources(server: McpServer): void {
  const resource = (name: string, mimeType: string, body: object) =>
    server.registerResource(name, `test://${name}`, { description: name, mimeType }, (uri) => {
      return { contents: [{ uri: uri.href, mimeType, ...body } as never] }
    })
  resource('static-text', 'text/plain', {
    text: 'This is the content of the static text resource.',
  })
  resource('static-binary', 'image/png', { blob: PNG })
  resource('watched-resource', 'text/plain', { text: 'Watched' })
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` }
    return {
      contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(data) }],
    }
  })
}

function addPrompts(server: McpServer): void {
  const prompt = (
    name: string,
    say: (args: Record<string, string>) => unknown[],
    fields?: z.ZodRawShape,
  ) => {
    const config = { description: name, ...(fields ? { argsSchema: z.object(fields) } : {}) }
    const call = (args: Record<string, string>) => ({ messages: say(args).map(user) })
    server.registerPrompt(name, config as never, call as never)
  }
  prompt('test_simple_prompt', () => [text('This is a simple prompt for testing.')])
  prompt(
    'test_prompt_with_arguments',
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    { arg1: completable(z.string(), (value) => [`${value}is`]), arg2: z.string() },
  )
  prompt(
    'test_prompt_with_embedded_resource',
    ({ resourceUri = '' }) => [
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ],
    { resourceUri: z.string() },
  )
  prompt('test_prompt_with_image', () => [image, text('Please analyze the image above.')])
}
