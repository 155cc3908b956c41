import { api } from '../shared/api.js';
import { Figures, Loading, Money, Problem, RawJson, ScreenHead } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';

/** Whether the books are right. */
export default function Today() {
  const { data, error } = useAnswer(['audit'], () => api.GET('/admin/audit'));
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      <ScreenHead title="Today" answers="Is it well, and are the books right?" />
      <Figures
        of={[
          ['Posted', <Money microUsd={data.posted_microusd} />],
          ['Held', <Money microUsd={data.held_microusd} />],
        ]}
      />
      <RawJson value={data} />
    </>
  );
}
