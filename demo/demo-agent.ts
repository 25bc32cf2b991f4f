import type { AgentOptions } from '../src/agent/agent-contract.ts'
import { chartRows } from './chart-rows.ts'
import { describeRows, findValues, listRowsTool, listValues } from './look-at-rows.ts'
import { measureRows } from './measure-rows.ts'
import { rankRows } from './rank-rows.ts'
import { sendReport } from './send-report.ts'

/** The agent of `byref serve` and `byref run` by default. It charts, ranks and measures the rows of any table. */
export const demoAgent = {
  instructions: [
    'You answer questions about the files that people attach. Tables are assets: you see their columns and first rows, never all rows.',
    'Pass the rows of a table to a tool by reference, as asset://<id>/content/rows; never write them out.',
    'Keep what later questions may need among the data, by _outputPath such as "†state.monthly_rain", and read it from there by its † name.',
    'Show pictures in your answer as ![title](<|asset://…|>), with the assetRef that the tool returned. Be brief.',
  ].join('\n'),
  tools: [
    ...[chartRows, rankRows, measureRows, listRowsTool, listValues, describeRows, findValues],
    sendReport,
  ],
  policies: [
    {
      checks: ({ id }) => id === sendReport.id,
      // The tool already needs an approval. This policy adds a reason, which the person sees.
      before: ({ isResumed }) =>
        isResumed
          ? undefined
          : {
              decision: 'ask',
              reason:
                'This demo sends nothing. After your approval, it writes the report into this conversation.',
            },
    },
  ],
} satisfies Partial<AgentOptions>
