import type { CallState, Message, RunState } from 'byref/client'
import type { Media } from './find-media.ts'

/** One entry of the thread. */
export type TimelineItem =
  | { type: 'message'; key: string; message: Message; header: boolean }
  | StepItem
  | LoopItem
  | { type: 'logs'; key: string; messages: Message[] }
  /** Calls whose message was never written. */
  | { type: 'lost-calls'; key: string; calls: CallState[] }
  | { type: 'run-end'; key: string; run: RunState }

/** A message that calls tools, with the results and writes of its calls. */
export interface StepItem {
  type: 'step'
  key: string
  message: Message
  header: boolean
  /** Results and writes of its calls, in the order of the log. */
  asides: Message[]
  /** Images and files of the results that no message shows. */
  media: Media[]
}

/** Steps in a row that called the same tools. */
export interface LoopItem {
  type: 'loop'
  key: string
  steps: StepItem[]
}
