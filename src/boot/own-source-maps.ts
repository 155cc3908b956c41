import * as module from 'node:module';

/** What the types of the oldest supported Node.js do not declare: versions before 22.14 do not have it. */
interface SourceMapsSupport {
  setSourceMapsSupport?(isEnabled: boolean, options: { readonly nodeModules: boolean }): void;
}

/**
 * Stacks name the sources of the gateway. The source maps of packages are not read: reading them would take a twentieth of a
 * start. Where Node.js has no such choice, `--enable-source-maps` reads all.
 */
export function mapOwnSources(): void {
  (module as SourceMapsSupport).setSourceMapsSupport?.(true, { nodeModules: false });
}
