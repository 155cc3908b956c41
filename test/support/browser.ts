import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { systemProgram } from './system-program.js';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Path of the system's Chromium; undefined where there is none. */
export const chromiumPath = systemProgram('chromium', 'chromium-browser', 'google-chrome');

/** A headless browser with a profile of its own. */
export interface Browser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Starts the system's Chromium. */
export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'shim-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    headless: true,
    args: ARGUMENTS,
  });
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
