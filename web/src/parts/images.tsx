// The images of firmware that the collector has; for an administrator a form that adds one.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError, type Image, MOST_IMAGE_BYTES } from '../api';
import * as show from '../format';
import { type Resource, store } from '../store';
import { imageName } from '../words';
import { At, Card, Confirm, Empty, Failed, Loading } from './basics';

/** So much of a digest tells images apart for a person; all of it is in the title. */
const DIGEST_SHOWN = 12;

export function ImagesCard({ found, administrator }: { found: Resource<Image[]>; administrator: boolean }): JSX.Element {
  const [leaving, setLeaving] = useState<Image | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const images = found.data;

  const remove = async (image: Image): Promise<void> => {
    setLeaving(null);
    setError(null);
    try {
      await store.api.removeImage(image.digest);
      store.say(`${imageName(image)} is removed.`);
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    }
    found.reload();
  };

  return (
    <Card title="Images">
      {administrator && <AddImage known={images ?? []} onAdded={found.reload} />}
      {error !== null && <Failed error={error} />}
      {found.error !== null && <Failed error={found.error} retry={found.reload} />}
      {images === null ? (
        found.loading && <Loading what="the images" />
      ) : images.length === 0 ? (
        <Empty title="No images yet">
          {administrator ? (
            <>
              Sign one with <code>./wattseal firmware sign</code> for each slot, and add both.
            </>
          ) : (
            'An administrator can add some.'
          )}
        </Empty>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Images">
          <table>
            <thead>
              <tr>
                <th scope="col">Image</th>
                <th scope="col" class="figure">
                  Slot
                </th>
                <th scope="col" class="figure roomy">
                  Size
                </th>
                <th scope="col" class="figure roomy">
                  Pieces
                </th>
                <th scope="col" class="roomy">
                  SHA-256
                </th>
                <th scope="col" class="roomy">
                  Added
                </th>
                {administrator && (
                  <th scope="col">
                    <span class="hidden">Remove</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {images.map((image) => (
                <tr key={image.digest}>
                  <th scope="row">
                    Version {image.version}
                    <span class="quiet">{image.target}</span>
                  </th>
                  <td class="figure">
                    {show.address(image.address)}
                    <span class="quiet narrow">{show.bytes(image.bytes)}</span>
                  </td>
                  <td class="figure roomy">{show.bytes(image.bytes)}</td>
                  <td class="figure roomy">{show.count(image.pieces)}</td>
                  <td class="roomy">
                    <code title={image.digest}>{image.digest.slice(0, DIGEST_SHOWN)}…</code>
                  </td>
                  <td class="roomy">
                    <At at_s={image.added_s} />
                    <span class="quiet"> by {image.by}</span>
                  </td>
                  {administrator && (
                    <td class="figure">
                      <button type="button" class="small" onClick={() => setLeaving(image)} aria-label={`Remove ${imageName(image)}`}>
                        Remove
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {leaving !== null && (
        <Confirm
          title={`Remove version ${leaving.version}?`}
          confirm="Remove"
          onCancel={() => setLeaving(null)}
          onConfirm={() => void remove(leaving)}
        >
          <p>{imageName(leaving)}. No update can be begun with it any more, unless it is added again. Meters that run it go on.</p>
        </Confirm>
      )}
    </Card>
  );
}

function AddImage({ known, onAdded }: { known: readonly Image[]; onAdded: () => void }): JSX.Element {
  const [file, setFile] = useState<File | null>(null);
  const [busy, setBusy] = useState(false);
  const [added, setAdded] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const input = useRef<HTMLInputElement>(null);

  const choose = (next: File | null): void => {
    setFile(next);
    setAdded(null);
    setError(null);
    setWrong(null);
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (file === null) return;
    setAdded(null);
    setError(null);
    setWrong(file.size > MOST_IMAGE_BYTES ? `${file.name} has ${show.bytes(file.size)}; an image has at most ${show.bytes(MOST_IMAGE_BYTES)}.` : null);
    if (file.size > MOST_IMAGE_BYTES) return;
    setBusy(true);
    try {
      const image = await store.api.addImage(file);
      const done = known.some(({ digest }) => digest === image.digest) ? 'was there already' : 'is added';
      setAdded(`${imageName(image)} ${done}.`);
      store.say(`${imageName(image)} ${done}.`);
      setFile(null);
      if (input.current !== null) input.current.value = '';
      onAdded();
    } catch (failed) {
      if (failed instanceof ApiError) setError(failed);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="row-form" onSubmit={(event) => void submit(event)}>
      <label class="field">
        <span>File with a signed image</span>
        <input ref={input} type="file" onChange={(event) => choose(event.currentTarget.files?.[0] ?? null)} />
      </label>
      <button type="submit" class="primary" disabled={busy || file === null}>
        {busy ? 'Adding …' : 'Add image'}
      </button>
      {added !== null && <p class="note good">{added}</p>}
      {wrong !== null && (
        <p class="note bad" role="alert">
          {wrong}
        </p>
      )}
      {error !== null && <Failed error={error} />}
    </form>
  );
}
