import { useState } from 'preact/hooks';
import { Act, type Deed } from '../shared/act.js';
import { answerOf, api, reasonHeader, type Shape } from '../shared/api.js';
import { Media } from '../shared/media.js';
import { Copy, Panel } from '../shared/parts.js';
import { useMay } from '../shared/session.js';
import { type AnyTask, mediaKindOf } from '../shared/task-parts.js';
import { When } from '../shared/time.js';

/** What a task made, and a link to its file. Whoever may not see content is told so. */
export function TaskResult({ of: task }: { readonly of: AnyTask }) {
  const maySee = useMay('support');
  const [link, setLink] = useState<Shape<'ContentLinkView'>>();
  if (!maySee) {
    return (
      <Panel title="Result">
        <p class="soft">Your role sees amounts, not content.</p>
      </Panel>
    );
  }
  const { id, result } = task;
  if (result === null) return null;
  const kind = mediaKindOf(task);
  const hasFile = JSON.stringify(result).includes(`/${id}/content`);
  return (
    <Panel title="Result" aside={hasFile && <LinkAct id={id} onLink={setLink} />}>
      <Media result={result} kind={kind} />
      {link !== undefined && <LinkShown link={link} kind={kind} />}
    </Panel>
  );
}

function LinkAct(props: {
  readonly id: string;
  readonly onLink: (link: Shape<'ContentLinkView'>) => void;
}) {
  const { id, onLink } = props;
  const run = async ({ reason }: Deed) => {
    const params = { path: { id } };
    const headers = reasonHeader(reason);
    onLink(await answerOf(api.POST('/admin/tasks/{id}/content-link', { params, headers })));
    return 'The link to the file was made.';
  };
  return (
    <Act label="Link to the file" title="Make a link to the file" needsReason run={run}>
      <p>
        Whoever has the link sees what the customer made, without a key, until it expires. The
        record of what operators did says who made it.
      </p>
    </Act>
  );
}

function LinkShown(props: {
  readonly link: Shape<'ContentLinkView'>;
  readonly kind: ReturnType<typeof mediaKindOf>;
}) {
  const { url, expires_at: expiresAt } = props.link;
  const { pathname, search } = new URL(url);
  return (
    <div class="stack made-link">
      {/* The gateway made it just now, so its path is good at the address of this page too. */}
      <Media result={{ file: pathname + search }} kind={props.kind} />
      <p class="small soft">
        Good without a key until <When at={expiresAt} /> <Copy text={url} what="the link" />
      </p>
    </div>
  );
}
