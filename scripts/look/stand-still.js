// Waits until pictures are loaded and nothing moves, or two seconds. Runs in the page.
// biome-ignore lint/nursery/noFloatingPromises: the code that runs it waits for the result
Promise.race([
  new Promise((go) => setTimeout(go, 2_000)),
  Promise.all([
    ...[...document.images].map((picture) => picture.decode().catch(() => {})),
    ...document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
      .map(({ finished }) => finished.catch(() => {})),
  ]),
])
