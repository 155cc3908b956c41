import { crc32 } from 'node:zlib';

const VERSION = 20;
const UTF8_NAMES = 0x0800;
/** 1 January 1980, the earliest date that a ZIP file can hold. */
const FIRST_DAY = 0x21;

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Puts files into one uncompressed ZIP archive. Together they have to be below 4 GB. */
export function zipFile(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const facts = factsOf(entry);
    const name = Buffer.from(entry.name, 'utf8');
    const file = Buffer.concat([record(0x04034b50, 4), facts, name, entry.bytes]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(record(0x02014b50, 6, VERSION), facts, rest, name);
    files.push(file);
    offset += file.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, index, record(0x06054b50, 4), end]);
}

function record(signature: number, bytes: number, version = 0): Buffer {
  const head = Buffer.alloc(bytes);
  head.writeUInt32LE(signature, 0);
  if (bytes > 4) head.writeUInt16LE(version, 4);
  return head;
}

/** The 26 bytes that the header of a file and its entry in the directory have in common. */
function factsOf({ name, bytes }: ZipEntry): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(VERSION, 0);
  facts.writeUInt16LE(UTF8_NAMES, 2);
  facts.writeUInt16LE(FIRST_DAY, 8);
  facts.writeUInt32LE(crc32(bytes), 10);
  facts.writeUInt32LE(bytes.length, 14);
  facts.writeUInt32LE(bytes.length, 18);
  facts.writeUInt16LE(Buffer.byteLength(name), 22);
  return facts;
}
