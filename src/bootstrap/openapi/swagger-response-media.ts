import type { React } from './swagger-react.js';

interface Described {
  readonly contentType?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface ResponseBody extends Described {
  readonly content: unknown;
}

/* eslint-disable max-lines-per-function -- The browser gets the text of this one function and of nothing else. */
/**
 * Plugin of Swagger UI that plays and saves the bytes of the response, and shows the pictures in a response of JSON. The
 * page's own player would request the same URL again with GET, which is no endpoint. It runs in the browser, to which its
 * text is sent, so it can use nothing else of this file.
 */
export function swaggerResponseMedia() {
  const media = (Original: unknown, { React }: { readonly React: React }) => {
    const { createElement, useEffect, useMemo } = React;
    /** The type without parameters, and the name of the file: from the response's header, else the end of the path. */
    const described = ({ contentType = '', url = '', headers = {} }: Described) => {
      const type = contentType.split(';', 1)[0] ?? '';
      const named = /filename="([^"]+)"/.exec(headers['content-disposition'] ?? '')?.[1];
      const last = url.split(/[?#]/, 1)[0]?.split('/').at(-1) ?? 'answer';
      const ending = type.split('/').at(-1)?.replace('mpeg', 'mp3').replace('octet-stream', 'bin');
      return { type, name: named ?? `${last}.${ending ?? 'bin'}` };
    };
    const Bytes = ({ content, contentType, url, headers }: ResponseBody & { content: Blob }) => {
      const href = useMemo(() => URL.createObjectURL(content), [content]);
      useEffect(
        () => () => {
          URL.revokeObjectURL(href);
        },
        [href],
      );
      const { type, name } = described({ contentType, url, headers });
      const medium = /^(audio|video)\//.exec(type)?.[1];
      const isPlayed = medium !== undefined && type !== 'audio/pcm';
      return createElement(
        'div',
        { className: 'answer-player' },
        createElement('h5', null, 'Response body'),
        isPlayed && createElement(medium, { controls: true, src: href, style: { width: '100%' } }),
        createElement(
          'p',
          null,
          createElement('a', { href, download: name }, 'Download file'),
          ` (${type}, ${content.size.toLocaleString('en')} bytes)`,
        ),
      );
    };
    /** The picture's type by the first characters of its Base64 text. */
    const typeOf = (text: string) =>
      ({ '/': 'jpeg', i: 'png', R: 'gif', U: 'webp' })[text[0] ?? ''] ?? 'png';
    const picturesIn = (content: unknown, url = ''): string[] => {
      if (typeof content !== 'string' || !url.includes('/images/')) return [];
      try {
        const { data } = JSON.parse(content) as { data: { b64_json?: string }[] };
        return data.flatMap(({ b64_json: text }) =>
          text === undefined ? [] : [`data:image/${typeOf(text)};base64,${text}`],
        );
      } catch {
        return [];
      }
    };
    const Pictures = ({ content, url }: ResponseBody) => {
      const pictures = useMemo(() => picturesIn(content, url), [content, url]);
      const shown = pictures.map((src, at) =>
        createElement('img', { src, key: at, alt: `Picture ${String(at + 1)} of the response` }),
      );
      return createElement('div', { className: 'answer-pictures' }, ...shown);
    };
    return (properties: ResponseBody) =>
      properties.content instanceof Blob && properties.content.size > 0
        ? createElement(Bytes, properties)
        : createElement(
            'div',
            null,
            createElement(Pictures, properties),
            createElement(Original, properties),
          );
  };
  return { wrapComponents: { responseBody: media } };
}
