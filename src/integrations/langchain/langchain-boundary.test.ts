import { type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { type StructuredToolInterface, tool } from '@langchain/core/tools'
import { createAgent } from 'langchain'
import { describe, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { testBoundary } from '../../testing/boundary.ts'
import { byReference } from './by-reference.ts'
import { scriptedChat, textOf } from './fixtures/scripted-chat.ts'

describe.each(['wrapped tools', 'the middleware alone'])('byReference with %s', (how) => {
  testBoundary(
    async (plain) => {
      const assets = createAssets()
      const refs = byReference({ assets })
      const tools = plain.map(({ name, parameters, run }) =>
        tool((input) => run(input as Record<string, unknown>), { name, schema: parameters }),
      ) as StructuredToolInterface[]
      let messages: BaseMessage[] = [new HumanMessage('Go')]
      return {
        assets,
        async call(name, args) {
          const { model, requests } = scriptedChat([[{ name, args }], 'Done.'])
          const given = how === 'wrapped tools' ? refs.tools(tools) : tools
          const agent = createAgent({ model, tools: given, middleware: [refs.middleware] })
          messages = (await agent.invoke({ messages })).messages
          return textOf(requests().at(-1) ?? [])
        },
      }
    },
    it,
    { hasResults: false },
  )
})
