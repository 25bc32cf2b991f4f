import { lazyPart } from './lazy-part.tsx'

/** Renders a dialog over the page. Its code is loaded when the first one opens. */
export const Modal = lazyPart(async () => (await import('./modal-dialog.tsx')).ModalDialog)
