import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChargeBasis, PriceChoice, Quote } from '../../common/money/charge-basis.js';
import type { MediaFile } from '../../providers/ports/audio.port.js';
import type { CallOrder } from './call-order.js';

/** A file of a command while it waits in the storage. */
export interface WaitingFile {
  readonly fileId: string;
  readonly filename: string;
  readonly contentType: string;
}

/** What a piece, or so many, costs; the amount in digits. */
export interface KeptPrice {
  readonly amountMicroUsd: string;
  readonly basis: ChargeBasis | null;
  readonly choice?: PriceChoice | undefined;
}

/** What is kept, sealed, of a call until its end. */
export type DeferredInput = Readonly<{
  /** The command without its files. */
  command: JsonObject;
  /** Its files, by the name of their field: one, or a list. */
  files: Readonly<Record<string, WaitingFile | readonly WaitingFile[]>>;
  shown: JsonObject;
  /** Of 1, 2, … pieces. */
  prices: readonly KeptPrice[];
}>;

/** The input of an order. `keep` stores a file until the provider has it. */
export async function packedOrder(
  { command, shown = {}, quote, quotes = [quote] }: CallOrder<object>,
  keep: (file: MediaFile) => Promise<WaitingFile>,
): Promise<DeferredInput> {
  const plain: Record<string, unknown> = {};
  const files: Record<string, WaitingFile | WaitingFile[]> = {};
  for (const [name, value] of Object.entries(command)) {
    if (isFile(value)) files[name] = await keep(value);
    else if (isFileList(value)) {
      const kept: WaitingFile[] = [];
      for (const file of value) kept.push(await keep(file));
      files[name] = kept;
    } else plain[name] = value;
  }
  return { command: plain, files, shown, prices: quotes.map(priceOf) };
}

/** The command of an input. `fetch` brings a file back to this machine. */
export async function wholeCommandOf(
  { command, files }: DeferredInput,
  fetch: (file: WaitingFile) => Promise<MediaFile>,
): Promise<JsonObject> {
  const whole: Record<string, unknown> = { ...command };
  for (const [name, kept] of Object.entries(files)) {
    if (!isList(kept)) whole[name] = await fetch(kept);
    else {
      const list: MediaFile[] = [];
      for (const file of kept) list.push(await fetch(file));
      whole[name] = list;
    }
  }
  return whole;
}

/** The ids of all files of an input. */
export function fileIdsOf({ files }: DeferredInput): string[] {
  return Object.values(files).flatMap((kept) =>
    isList(kept) ? kept.map(({ fileId }) => fileId) : [kept.fileId],
  );
}

function priceOf({ amountMicroUsd, basis, choice }: Quote): KeptPrice {
  return { amountMicroUsd: amountMicroUsd.toString(), basis, ...(choice && { choice }) };
}

const isList = (kept: WaitingFile | readonly WaitingFile[]): kept is readonly WaitingFile[] =>
  Array.isArray(kept);

function isFile(value: unknown): value is MediaFile {
  return isJsonObject(value) && typeof value.path === 'string' && 'sizeBytes' in value;
}

function isFileList(value: unknown): value is readonly MediaFile[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFile);
}
