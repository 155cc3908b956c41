import { defineConfig } from 'vite';

/** Beside the compiled files of `src/console`, which are in `dist/console`. */
const BUILT = '../dist/console/page';

export default defineConfig({
  root: import.meta.dirname,
  // The gateway may be below a path of its address: the server writes the prefix into the page, and scripts find each other.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: BUILT,
    emptyOutDir: true,
    target: 'es2022',
    // No data URLs: the content security policy allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    // A busy machine is no fault of a plugin.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
