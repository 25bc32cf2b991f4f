import type { Contestant } from './contestant.ts'

/** The name of a contestant, and how to create it: in the given folder if it is durable. */
export interface Entry {
  title: string
  /** The packages whose versions are printed. */
  packages: readonly string[]
  durable?: true
  /** Imports only this contestant. */
  open(folder: string): Promise<Contestant>
}

/** First those in memory, then those on SQLite. The first of each kind is the baseline. */
export const contestants: Record<string, Entry> = {
  byref: {
    title: 'byref',
    packages: [],
    open: async () => (await import('./byref.ts')).byref(),
  },
  'ai-generate': {
    title: 'AI SDK generateText',
    packages: ['ai'],
    open: async () => (await import('./ai-sdk.ts')).aiSdkGenerate(),
  },
  'ai-stream': {
    title: 'AI SDK streamText',
    packages: ['ai'],
    open: async () => (await import('./ai-sdk.ts')).aiSdkStream(),
  },
  langgraph: {
    title: 'LangGraph, MemorySaver',
    packages: ['langchain', '@langchain/langgraph'],
    open: async () => (await import('./langgraph.ts')).langgraph(),
  },
  mastra: {
    title: 'Mastra Agent.generate',
    packages: ['@mastra/core'],
    open: async () => (await import('./mastra.ts')).mastra(),
  },
  openai: {
    title: 'OpenAI Agents run',
    packages: ['@openai/agents'],
    open: async () => (await import('./openai-agents.ts')).openaiAgents(),
  },
  adk: {
    title: 'Google ADK InMemoryRunner',
    packages: ['@google/adk'],
    open: async () => (await import('./google-adk.ts')).googleAdk(),
  },
  'byref-sqlite': {
    title: 'byref',
    packages: [],
    durable: true,
    open: async (folder) => (await import('./byref.ts')).byrefSqlite(folder),
  },
  'langgraph-sqlite': {
    title: 'LangGraph, SqliteSaver',
    packages: ['@langchain/langgraph-checkpoint-sqlite', 'better-sqlite3'],
    durable: true,
    open: async (folder) => (await import('./langgraph.ts')).langgraphSqlite(folder),
  },
}
