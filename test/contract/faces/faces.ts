import { CHAT } from './clients/chat.client.js';
import { MESSAGES } from './clients/messages.client.js';
import { RESPONSES } from './clients/responses.client.js';

/** What a client understands of an answer. */
export interface Understood {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  /** The words of the protocol for the end of an answer that called tools. */
  readonly isWhole: boolean;
  /** The stream told an error, for which stock clients throw. */
  readonly hasError: boolean;
}

/** A face, as its stock clients use it. */
export interface Face {
  readonly name: string;
  readonly path: string;
  /** Further headers of its clients. */
  readonly headers?: Readonly<Record<string, string>>;
  body(model: string, isStream: boolean): object;
  /** Reads the whole text of an event stream. */
  readStream(text: string): Understood;
  readJson(json: unknown): Understood;
}

/** One line for each face. */
export const FACES: readonly Face[] = [CHAT, RESPONSES, MESSAGES];
