import { fireEvent, screen } from '@testing-library/react'
import type { AssetDetails } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { AssetPreview } from './asset-preview.tsx'

const details = (mime: string) =>
  ({
    asset: { assetId: 'a', ref: 'asset://a', mime, size: 9, name: 'file' },
    meta: {},
  }) as unknown as AssetDetails

describe('AssetPreview', () => {
  it.each([
    ['image/png', 'image'],
    ['audio/mpeg', 'recording'],
    ['video/mp4', 'video'],
  ])('reports that a damaged %s cannot be shown, and offers a download', async (mime, what) => {
    const { container } = await renderInApp(<AssetPreview details={details(mime)} />)
    fireEvent.error(container.querySelector('img, audio, video') as Element)
    expect(container.textContent).toContain(`This ${what} cannot be shown.`)
    expect(screen.getByRole('link', { name: 'Download' }).getAttribute('href')).toContain('a')
  })
})
