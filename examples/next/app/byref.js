// What the routes share: models and tools by reference, and an agent of byref. Next.js bundles this file with each route
// that imports it, so that what is to be the same in all of them is kept on globalThis.
import { tool } from 'ai'
import { createAgent, defineTool } from 'byref'
import { byReference } from 'byref/ai-sdk'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'
import { drawPicture } from './draw-picture.js'

globalThis.example ??= make()

export const { agent, model, refs, tools } = globalThis.example

function make() {
  const refs = byReference({ outputs: 'references' })
  const description = 'Takes a picture'
  return {
    refs,
    tools: refs.tools({
      camera: tool({
        description,
        inputSchema: z.object({}),
        execute: () => ({ caption: 'stripes', photo: drawPicture() }),
      }),
    }),
    // Stands for a real model, such as openai('gpt-5-mini').
    model: answering('camera'),
    agent: createAgent({
      model: answering('photograph'),
      tools: [
        defineTool({
          id: 'photograph',
          description,
          inputSchema: z.object({}),
          execute: () => ({ photo: drawPicture() }),
        }),
      ],
    }),
  }
}

/** A model without a key: it calls the tool, and then says so. */
function answering(name) {
  const turns = [{ calls: [{ name, arguments: {} }] }, 'Here it is.']
  return scriptedModel(Array.from({ length: 1000 }, () => turns).flat())
}
