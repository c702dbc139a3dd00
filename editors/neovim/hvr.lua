-- hvr in Neovim 0.7 or later: put this file into ~/.config/nvim/plugin/.
local function attach(event)
  local buffer = event.buf
  vim.bo[buffer].filetype = "pddl"
  vim.bo[buffer].commentstring = "; %s"
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
  local config = { name = "hvr", cmd = { "hvr", "lsp" }, root_dir = folder }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  -- Neovim 0.7: one server for all buffers.
  local client = vim.g.hvr_client
  if not client or not vim.lsp.get_client_by_id(client) then
    client = vim.lsp.start_client(config)
    vim.g.hvr_client = client
  end
  vim.lsp.buf_attach_client(buffer, client)
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.pddl", "*.hddl", "*.plan", "*.soln" },
  callback = attach,
})
