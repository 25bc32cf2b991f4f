import { linkedSources, sourceText } from '../.vitepress/pages.ts'

/** A page for each file that the docs link to, with its text. */
export default {
  paths: () => linkedSources().map((file) => ({ params: { file }, content: sourceText(file) })),
}
