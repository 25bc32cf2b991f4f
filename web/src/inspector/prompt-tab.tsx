/** Prompt */
export function PromptTab() {
  return null
}
