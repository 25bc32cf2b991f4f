// Pass by reference in your own framework. Its tools, its history and its loop do not change.
import { createAssets, defineTool } from 'byref'
import { createBoundary, createResultSource } from 'byref/boundary'

// The framework: a tool is a function with a schema, and the history is a list of results.
interface MiniTool {
  name: string
  parameters: Record<string, unknown>
  run(input: never): unknown
}
const history: unknown[] = []
const camera: MiniTool = {
  name: 'camera',
  parameters: { type: 'object', properties: {} },
  run: () => ({ taken: 'today', image: new Uint8Array(1_000_000).fill(7) }),
}
const crop: MiniTool = {
  name: 'crop',
  parameters: {
    type: 'object',
    properties: { image: { asset_ref_acceptable: true, asset_ref_as: 'bytes' }, to: {} },
  },
  run: ({ image, to }: { image: Uint8Array; to: number }) => ({ image: image.slice(0, to) }),
}

// The integration: values cross the boundary in both directions.
const assets = createAssets()
const boundary = createBoundary({ assets })

function shownToModel({ name, parameters }: MiniTool): unknown {
  const tool = defineTool({ id: name, description: name, inputSchema: parameters })
  return boundary.describe(tool).inputSchema
}

async function callTool(mini: MiniTool, args: Record<string, unknown>): Promise<unknown> {
  const tool = defineTool({ id: mini.name, description: '', inputSchema: mini.parameters })
  const call = { tool: mini.name, toolCallId: `call-${history.length + 1}` }
  try {
    const values = createResultSource(history, assets)
    const resolved = await boundary.resolve({ tool, arguments: args }, values)
    const result = await boundary.withInput({ tool, arguments: resolved.arguments }, (input) =>
      mini.run(input as never),
    )
    const stored = await boundary.offload(call, await boundary.store(call, result))
    history.push(stored.value)
    return boundary.show({ id: call.toolCallId, name: mini.name }, stored.value, history.length)
      .item.output.value
  } catch (error) {
    // Such as a reference that names nothing. The model can correct it.
    return `The call failed: ${error instanceof Error ? error.message : error}`
  }
}

// What the model would do: take a picture, and pass it on by name.
console.log(JSON.stringify(shownToModel(crop)))
console.log(JSON.stringify(await callTool(camera, {})))
console.log(JSON.stringify(await callTool(crop, { image: '†result#1.image', to: 100 })))
