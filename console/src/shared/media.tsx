import { CONSOLE_PATH, PATH_PREFIX } from './api.js';
import { Facts } from './parts.js';
import { useSession } from './session.js';

const OWN_PATHS = [`${PATH_PREFIX}/v1/`, `${PATH_PREFIX}/sandbox/media/`];
const MOST_SHOWN = 24;
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/\.(mp3|wav|ogg|opus|flac|aac|m4a)$/, 'audio'],
  [/\.(mp4|webm|mov)$/, 'video'],
  [/\.(png|jpe?g|webp|gif)$/, 'image'],
];
type Kind = 'audio' | 'video' | 'image' | 'file';

/** A file of a result: where it is read through this page, or else its URL elsewhere. */
interface MediaFile {
  readonly name: string;
  readonly url: string;
  readonly isOwn: boolean;
  readonly kind: Kind;
}

/** The files that a result names, each once. `kind`: of those whose name does not tell it. */
function filesIn(result: unknown, kind: Kind): readonly MediaFile[] {
  const files = new Map<string, MediaFile>();
  const walk = (value: unknown, name: string) => {
    if (typeof value === 'string') {
      const file = fileAt(value, name, kind);
      if (file !== undefined && !files.has(file.url)) files.set(file.url, file);
    } else if (typeof value === 'object' && value !== null) {
      for (const [field, part] of Object.entries(value)) {
        walk(part, Array.isArray(value) ? name : field);
      }
    }
  };
  walk(result, 'result');
  return [...files.values()].slice(0, MOST_SHOWN);
}

/** A file at the address of the page is shown; one elsewhere is only named. */
function fileAt(text: string, name: string, kind: Kind): MediaFile | undefined {
  const isPath = text.startsWith('/') && !text.startsWith('//');
  if (!isPath && !/^https?:\/\//.test(text)) return undefined;
  const url = URL.parse(text, location.origin);
  if (url === null) return undefined;
  const isOwn =
    url.origin === location.origin && OWN_PATHS.some((path) => url.pathname.startsWith(path));
  const told = KINDS.find(([ending]) => ending.test(url.pathname.toLowerCase()))?.[1];
  const ofField = kindOfField(name) ?? kind;
  return {
    name: name === 'url' ? (told ?? ofField) : name.replaceAll('_', ' '),
    url: isOwn ? url.pathname + url.search : url.href,
    isOwn,
    kind: told ?? ofField,
  };
}

function kindOfField(name: string): Kind | undefined {
  if (/image|cover|picture/.test(name)) return 'image';
  return name.includes('video') ? 'video' : undefined;
}

/** The file of an own task, read as the holder of the session reads it: a link of its own needs nobody. */
function byTheSession(file: MediaFile): MediaFile {
  const isLink = /[?&]signature=/.test(file.url);
  const own = `${PATH_PREFIX}/v1/`;
  if (!file.isOwn || isLink || !file.url.startsWith(own)) return file;
  return { ...file, url: `${CONSOLE_PATH}/api/v1/${file.url.slice(own.length)}` };
}

/** The media of a result, played and shown in place. */
export function Media({ result, kind }: { readonly result: unknown; readonly kind: Kind }) {
  const isCustomer = useSession().kind === 'customer';
  const files = filesIn(result, kind).map((file) => (isCustomer ? byTheSession(file) : file));
  if (files.length === 0) return <p class="soft">No files.</p>;
  return <Facts of={files.map((file) => [file.name, <Player file={file} />])} />;
}

function Player({ file: { url, isOwn, kind, name } }: { readonly file: MediaFile }) {
  const link = (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {isOwn ? 'Open the file' : url}
    </a>
  );
  if (!isOwn || kind === 'file') return link;
  return (
    <div class="stack">
      {kind === 'audio' && (
        <audio class="media" controls preload="none" src={url} aria-label={name} />
      )}
      {kind === 'video' && (
        <video class="media" controls preload="metadata" src={url} aria-label={name} />
      )}
      {kind === 'image' && <img class="media" src={url} alt={name} loading="lazy" />}
      {link}
    </div>
  );
}
