import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import type { Upload } from './attached-files.ts'
import { UploadChip } from './upload-chip.tsx'

const attempt = async () => {}

const show = (change: Partial<Upload>) => {
  const file = new File(['x'.repeat(2_000)], 'cars.csv')
  const upload: Upload = { key: 1, file, status: 'sending', progress: 0, attempt, ...change }
  return renderInApp(<UploadChip upload={upload} onRetry={() => {}} onRemove={() => {}} />)
}

describe('UploadChip', () => {
  it('shows the progress of a file, and then its table', async () => {
    for (const [change, text, now] of [
      [{ progress: 0.25 }, '25% of 2.0 KB', '25'],
      [{ progress: 1 }, 'The server is reading it…', '100'],
      [{ progress: 1, imported: { share: 0.4, isAgain: false } }, 'Building table, 40%', '40'],
      [
        { progress: 1, imported: { share: 0.1, isAgain: true } },
        'Building table, 10%, second pass',
        '10',
      ],
    ] as const) {
      const { unmount } = await show(change)
      expect(screen.getByText(text)).toBeTruthy()
      expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe(now)
      unmount()
    }
  })

  it('shows the real ending of a file', async () => {
    await show({ file: new File([], 'invoice\u202efdp.exe') })
    expect(screen.getByText('invoice⟨U+202E⟩fdp.exe')).toBeTruthy()
  })
})
