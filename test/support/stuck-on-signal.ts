/** Imported by a server under test: a signal blocks its event loop for good. */
process.on('SIGUSR2', () => {
  for (;;);
})
