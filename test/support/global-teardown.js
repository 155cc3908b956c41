/** Stops what global-setup started. */
export default async function globalTeardown() {
  await globalThis.testDatabase?.stop();
}
