import { render, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import type { Upload } from './attached-files.ts'
import { UploadStatus } from './upload-status.tsx'

const upload = (key: number, name: string, more: Partial<Upload> = {}): Upload => ({
  key,
  file: { name, size: 1 },
  status: 'sending',
  progress: 0,
  attempt: async () => {},
  ...more,
})

describe('UploadStatus', () => {
  it('announces once that a file is attached, and why another one is not', () => {
    const said = () => screen.getByRole('status').textContent
    const { rerender } = render(<UploadStatus uploads={[upload(1, 'a.csv')]} />)
    expect(said()).toBe('')
    const a = upload(1, 'a.csv', { status: 'done' })
    rerender(<UploadStatus uploads={[a, upload(2, 'b.csv')]} />)
    expect(said()).toBe('a.csv is attached.')
    const b = upload(2, 'b.csv', { status: 'failed', error: { message: 'It is empty.' } })
    rerender(<UploadStatus uploads={[a, b]} />)
    expect(said()).toBe('b.csv was not attached. It is empty.')
    rerender(<UploadStatus uploads={[a, b, upload(3, 'c.csv')]} />)
    expect(said()).toBe('b.csv was not attached. It is empty.')
    rerender(<UploadStatus uploads={[]} />)
    expect(said()).toBe('')
  })
})
