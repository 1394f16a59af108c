import { Button } from "antd";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { useText } from "../lib/use-text";

type Question = { title: string; content?: string; okText: string; danger?: boolean; onOk: () => unknown };
const Context = createContext<(question: Question) => void>(() => {});
/** Asks before something is taken away. */
export const useConfirm = () => useContext(Context);

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const { t } = useText();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = useCallback((next: Question) => setQuestion(next), []);
  const close = () => setQuestion(null);
  const agree = () => {
    close();
    void question?.onOk();
  };
  return (
    <Context.Provider value={ask}>
      {children}
      <Dialog open={question != null} title={question?.title ?? ""} onClose={close}>
        {question?.content && <p>{question.content}</p>}
        <div className="dialog-actions">
          <Button onClick={close}>{t("action.back")}</Button>
          <Button type="primary" danger={question?.danger ?? false} onClick={agree}>
            {question?.okText}
          </Button>
        </div>
      </Dialog>
    </Context.Provider>
  );
}

type DialogProps = { open: boolean; title: string; onClose: () => void; children: ReactNode };
/** The browser's own dialog: it keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ open, title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (open) ref.current?.showModal();
    else ref.current?.close();
  }, [open]);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose} className="dialog">
      {open && (
        <>
          <h2 id={id}>{title}</h2>
          {children}
        </>
      )}
    </dialog>
  );
}
