import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../platform/config/load-config.js';
import type { VendorFile } from './vendor-file.js';
import { vendorFaults } from './vendor-faults.js';

/** The files that are shipped; from the sources and from the built program the same folder. */
const SHIPPED = fileURLToPath(new URL('../../../vendors/', import.meta.url));
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 100;

/**
 * The vendors of the shipped files and of the folder, by id; one of the folder replaces a shipped one. Throws {@link ConfigError}
 * with a line for each mistake in them.
 * @param directory the folder of the operator, if there is one
 */
export function loadVendors(
  directory: string | undefined,
  shipped = SHIPPED,
): ReadonlyMap<string, VendorFile> {
  const vendors = new Map<string, VendorFile>();
  const problems: string[] = [];
  const folders = directory === undefined ? [shipped] : [shipped, directory];
  for (const path of folders.flatMap((folder) => filesIn(folder, problems))) {
    const { faults, vendor } = readVendor(path);
    problems.push(...faults);
    if (vendor) vendors.set(vendor.id, vendor);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return vendors;
}

/** The vendor of a file, or everything that is wrong with it, each line with the file and the path in it. */
export function readVendor(path: string): {
  readonly faults: readonly string[];
  readonly vendor?: VendorFile;
} {
  const read = readJson(path);
  if ('problem' in read) return { faults: [`${path}: ${read.problem}`] };
  const faults = vendorFaults(read.json);
  const vendor = read.json as VendorFile;
  if (faults.length === 0 && `${vendor.id}.json` !== basename(path)) {
    faults.push(`id: the file must have the name ${vendor.id}.json`);
  }
  if (faults.length > 0) return { faults: faults.map((fault) => `${path}: ${fault}`) };
  return { faults, vendor };
}

function filesIn(folder: string, problems: string[]): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /(?<!\.schema)\.json$/.test(name));
    if (names.length > MAX_FILES) problems.push(`${folder}: has more than ${MAX_FILES} files`);
    return names.slice(0, MAX_FILES).map((name) => join(folder, name));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    problems.push(`VENDORS_DIR: ${folder} cannot be read (${code})`);
    return [];
  }
}

function readJson(path: string): { readonly json: unknown } | { readonly problem: string } {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) return { problem: 'is larger than 256 kB' };
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` };
  }
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return { problem: 'is no valid JSON' };
  }
}
