;;; hvr.el --- hvr in Emacs, with eglot -*- lexical-binding: t -*-
;; Load this file from your init file. Eglot is part of Emacs 29; install it before that.

(define-derived-mode pddl-mode lisp-data-mode "PDDL"
  "Major mode for PDDL, HDDL and plans.")

(add-to-list 'auto-mode-alist '("\\.\\(pddl\\|hddl\\|plan\\|soln\\)\\'" . pddl-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(pddl-mode . ("hvr" "lsp"))))

(add-hook 'pddl-mode-hook 'eglot-ensure)

(provide 'hvr)
;;; hvr.el ends here
